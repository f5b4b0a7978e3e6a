#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoke/nn/graph.hpp"
#include "convoke/nn/losses/loss.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::nn {

/// The options of a plan.
struct PlanOptions {
  std::int64_t lane = 0;   ///< samples per lane: one batch-norm group each
  std::int64_t lanes = 1;  ///< neighbouring lanes that run together; the plan's batch is lane * lanes
  bool training = true;    ///< false: forward only, running statistics, dropout passes through
  ConvolutionChoice convolution = ConvolutionChoice::kAuto;
  Precision precision = Precision::kFloat32;
  bool working_weights = false;  ///< weights in other layouts or types are bound, not made by every plan
  const Loss* loss = nullptr;  ///< null: default_loss(); decides which last activation training leaves to it
};

/// The address of a step's random numbers: dropout draws from (seed, node, epoch, sample) alone.
struct StepKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::span<const std::uint32_t> samples;  ///< ids of the plan's samples, lane * lanes of them
  std::int64_t batch = 0;  ///< samples of the whole step, over all plans; 0: there is only this plan
};

/// A primitive of the plan as `convoke summary` and `convoke bench` show it.
struct PlanStep {
  std::string node;            ///< "conv2d_2"
  std::string what;            ///< "forward", "backward weights", ...
  std::string implementation;  ///< oneDNN's name, or ours: "jit_avx512_core_wino..." / "convoke:batch_norm"
  double flops = 0;            ///< multiplications and additions of convolutions and products, 0 for the rest

  bool product() const { return flops > 0; }  ///< counts in the bound by bare primitives
};

/// A graph compiled for one batch: a flat list of bound primitives and an activation arena of its own.
/// Nothing is allocated or looked up in a step. Parameters and gradients belong to the caller and are shared
/// or not as he likes. Use by one thread at a time; runs with as many OpenMP threads as the thread that calls
/// it (usually one).
class Network {
 public:
  /// Throws Error if the graph cannot be compiled (for training, the output must be a vector of classes).
  Network(const Graph& graph, std::shared_ptr<const ParameterLayout> layout, PlanOptions options);
  ~Network();
  Network(Network&&) noexcept;

  const PlanOptions& options() const;
  std::int64_t samples() const { return options().lane * options().lanes; }

  /// Binds the arenas: `parameters` (layout.size() floats) is read; `gradients` (layout.gradient_size()
  /// floats, may be null for inference) is overwritten by backward: gradients of the trainable slots, and for
  /// each statistic slot the sum over the plan's lanes of the lane's value times its share of the batch (see
  /// backward). `working` (WorkingWeights::data()): read if options.working_weights. 64-byte aligned; must
  /// outlive the binding.
  void bind(const float* parameters, float* gradients, const std::byte* working = nullptr);

  /// Where the caller writes the batch: (N, C, H, W), (N, L, F) or (N, F), plain and dense; empty if the
  /// input is tokens.
  std::span<float> input();
  /// The same for tokens, (N, L); empty if the input is numbers.
  std::span<std::int32_t> tokens();
  /// (N, ...) after forward, plain and dense: the last node's output; in training without the activation that
  /// the loss takes in.
  std::span<const float> output() const;

  void forward(const StepKey& key = {});

  /// Where batch norms are synchronised, a plan runs in segments. After each but the last it stops with its
  /// moments, sums over its own samples, which the caller replaces by the sums over all plans of the step
  /// before any of them goes on; forward() and backward() without a segment take this plan for the whole
  /// batch. These are how many moments there are at each stop: the same for all plans of a graph, whatever
  /// their lanes. Segments are one more; without such layers there is one.
  std::span<const std::size_t> forward_stops() const;
  std::span<const std::size_t> backward_stops() const;
  /// Runs one segment, from 0 on, and returns its moments; none after the last.
  std::span<double> forward(const StepKey& key, std::size_t segment);

  /// What a plan's samples should be: `labels` (N); `weights` (N), or none for 1 each; of mixtures,
  /// `second_labels` and `shares` (N), see Judged.
  struct Truth {
    std::span<const std::int32_t> labels;
    std::span<const float> weights = {};
    std::span<const std::int32_t> second_labels = {};
    std::span<const float> shares = {};
  };
  /// The mean loss over `batch` samples of which these are N: starts backward with d loss / d outputs and
  /// returns what these samples add. After forward, before backward.
  LossTally loss(const Truth& truth, std::int64_t batch);
  LossTally loss(std::span<const std::int32_t> labels, std::int64_t batch) {
    return loss(Truth{labels}, batch);
  }

  /// Back-propagates. `ready(end)`: all gradients in floats [0, end) of the arena are complete; called with
  /// rising ends, the last time with layout.gradient_size(). Statistics count lane / batch each (batch as in
  /// the loss).
  using Ready = std::function<void(std::size_t end)>;
  void backward(const Ready& ready);
  std::span<double> backward(const Ready& ready, std::size_t segment);

  /// Runs forward once more on the batch, which must stand in input() again (its memory is reused): the first
  /// node whose parameters or output are not finite, "input" for the batch itself, "" if all are finite.
  std::string first_non_finite(const StepKey& key);

  std::vector<PlanStep> steps() const;
  std::size_t activation_bytes() const;  ///< the arena, scratch memory included
  /// Seconds of each step (in the order of steps()): best of `repeats` runs of that step alone;
  /// of fewer, but 3, once they have taken 50 ms.
  std::vector<double> time_steps(int repeats);

 private:
  class Compiled;
  std::unique_ptr<Compiled> plan_;
};

}  // namespace convoke::nn
