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

/// Options of a plan.
struct PlanOptions {
  std::int64_t micro_batch = 0;  ///< samples per micro-batch; each micro-batch is a batch-norm group
  std::int64_t micro_batches =
      1;  ///< neighboring micro-batches that run together; the plan's batch is micro_batch * micro_batches
  bool training = true;  ///< false: forward only, with running statistics and without dropout
  ConvolutionChoice convolution = ConvolutionChoice::kAuto;
  Precision precision = Precision::kFloat32;
  /// bind weights in other layouts or types instead of making them in every plan
  bool working_weights = false;
  /// Inference only: a convolution also does the work of a relu6, silu, hard_swish or sum that follows. The
  /// outputs differ from those of other plans by rounding.
  bool post_ops = false;
  /// Training only: backward computes most values of forward again, from a few that are kept. All results
  /// have the same bits (recomputation.hpp).
  bool low_memory = false;
  /// backward also computes the gradient of the input (Network::input_gradient)
  bool input_gradient = false;
  /// null: default_loss(); decides which last activation belongs to the loss in training
  const Loss* loss = nullptr;
  std::int64_t classes = 0;  ///< LossInputs::classes
};

/// The address of a step's random numbers. Dropout depends on (seed, node, epoch, sample, repeat) alone.
struct StepKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::span<const std::uint32_t> samples;  ///< ids of the plan's samples, micro_batch * micro_batches of them
  std::int64_t batch = 0;  ///< samples of the whole step, over all plans; 0: this plan is the whole step
  /// for each of the plan's samples: how often the epoch has used it before; empty: 0 for each
  std::span<const std::uint32_t> repeats = {};

  /// Returns the address of the repeats from sample `n` of the plan on; null: 0 for each.
  const std::uint32_t* repeats_from(std::int64_t n) const {
    return repeats.empty() ? nullptr : repeats.data() + n;
  }
};

/// A primitive of the plan, as `convoke summary` and `convoke bench` show it.
struct PlanStep {
  std::string node;            ///< "conv2d_2"
  std::string what;            ///< "forward", "backward weights", ...
  std::string implementation;  ///< oneDNN's name or ours: "jit_avx512_core_wino..." / "convoke:batch_norm"
  double flops = 0;  ///< multiplications and additions of convolutions and products, 0 for all others

  bool again = false;  ///< a step of forward that PlanOptions::low_memory repeats in backward

  bool product() const { return flops > 0 && !again; }  ///< counts in the bound by bare primitives
};

/// A graph compiled for one batch: a flat list of bound primitives and its own activation arena. A step
/// allocates nothing and looks nothing up. Parameters and gradients belong to the caller, who may share them
/// between plans. Only one thread may use a network at a time. It runs with as many OpenMP threads as the
/// calling thread uses (usually one).
class Network {
 public:
  /// Throws Error if the graph cannot be compiled (in training, the output must be a vector of classes).
  Network(const Graph& graph, std::shared_ptr<const ParameterLayout> layout, PlanOptions options);
  ~Network();
  Network(Network&&) noexcept;

  const PlanOptions& options() const;
  std::int64_t samples() const { return options().micro_batch * options().micro_batches; }

  /// Binds the arenas. `parameters` (layout.size() floats) is read. backward overwrites `gradients`
  /// (layout.gradient_size() floats, may be null for inference): with the gradients of the trainable slots,
  /// and, for each statistic slot, with the sum over the plan's micro-batches of the micro-batch's value
  /// times its share of the batch (see backward). `working` (WorkingWeights::data()) is read if
  /// options.working_weights. All are 64-byte aligned and must outlive the binding.
  void bind(const float* parameters, float* gradients, const std::byte* working = nullptr);

  /// Returns the memory to which the caller writes the batch: (N, C, H, W), (N, L, F) or (N, F), plain and
  /// dense. Empty if the input is tokens.
  std::span<float> input();
  /// Returns the same for tokens, (N, L). Empty if the input is numbers.
  std::span<std::int32_t> tokens();
  /// Returns the last node's output after forward, (N, ...), plain and dense; in training without the
  /// activation that is part of the loss.
  std::span<const float> output() const;

  void forward(const StepKey& key = {});

  /// Returns how many moments there are at each stop of forward. Where batch norms are synchronized, a plan
  /// runs in segments. After each segment but the last it stops with its moments, which are sums over its own
  /// samples. The caller replaces them by the sums over all plans of the step before any plan goes on.
  /// forward() and backward() without a segment treat this plan as the whole batch. The numbers of moments
  /// are equal for all plans of a graph, whatever their micro-batches. There is one segment more than there
  /// are stops; without such layers there is one segment.
  std::span<const std::size_t> forward_stops() const;
  std::span<const std::size_t> backward_stops() const;
  /// Runs one segment, counted from 0, and returns its moments; empty after the last segment.
  std::span<double> forward(const StepKey& key, std::size_t segment);

  /// The targets of a plan's samples, for the loss: `labels` (N); `weights` (N), or empty for 1 each; for
  /// mixtures `second_labels`, `shares` and `second_weights` (N), and `soft_labels` (N, outputs per sample),
  /// see LossInputs.
  struct Targets {
    std::span<const std::int32_t> labels;
    std::span<const float> weights = {};
    std::span<const std::int32_t> second_labels = {};
    std::span<const float> shares = {};
    std::span<const float> second_weights = {};
    std::span<const float> soft_labels = {};
  };
  /// Computes the mean loss over `batch` samples, of which these are N. Starts backward with d loss / d
  /// outputs, and returns what these samples add. Call it after forward and before backward.
  LossSums loss(const Targets& targets, std::int64_t batch);
  LossSums loss(std::span<const std::int32_t> labels, std::int64_t batch) {
    return loss(Targets{labels}, batch);
  }

  /// Starts backward with `gradient`, (N, outputs per sample), of any function of output(), in place of
  /// loss().
  void start_backward(std::span<const float> gradient);
  /// Returns the gradient of that function, or of the loss, by input() after backward: (N, C, H, W), (N, L,
  /// F) or (N, F), plain and dense. With options.input_gradient only.
  std::span<const float> input_gradient() const;

  /// Back-propagates. Calls `ready(end)` when all gradients in floats [0, end) of the arena are complete:
  /// with rising ends, the last time with layout.gradient_size(). Each statistic counts with micro_batch /
  /// batch (batch as in the loss).
  using Ready = std::function<void(std::size_t end)>;
  void backward(const Ready& ready);
  std::span<double> backward(const Ready& ready, std::size_t segment);

  /// Runs forward once more to find the first node whose parameters or output are not finite: returns its
  /// name, "input" for the batch itself, or "" if all are finite. The batch must be in input() again, because
  /// forward reuses that memory.
  std::string first_non_finite(const StepKey& key);

  std::vector<PlanStep> steps() const;
  std::size_t activation_bytes() const;  ///< bytes of the arena, scratch memory included
  /// Returns the seconds of each step (in the order of steps()): the best of `repeats` runs of that step
  /// alone, or of at least 3 runs once they have taken 50 ms.
  std::vector<double> time_steps(int repeats);

 private:
  class Compiled;
  std::unique_ptr<Compiled> plan_;
};

/// Returns what activation_bytes() of such a network would be, scratch memory included. Compiles the network,
/// but does not allocate its arena. Throws as Network does.
std::size_t predict_activation_bytes(const Graph& graph, const ParameterLayout& layout,
                                     const PlanOptions& options);

}  // namespace convoke::nn
