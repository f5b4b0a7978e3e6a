#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/update.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/sync/strategy.hpp"

namespace convoke::engine {

enum class Reduction { kFast, kExact };

/// What decides a step, and how it is executed here.
struct EngineOptions {
  std::int64_t batch = 0;  ///< global batch
  std::int64_t lane = 0;   ///< samples per lane, divides batch
  std::uint64_t seed = 0;
  Reduction reduction = Reduction::kFast;
  nn::ConvolutionChoice convolution = nn::ConvolutionChoice::kAuto;
  nn::Precision precision = nn::Precision::kFloat32;
  nn::LossPtr loss = nn::default_loss();
  int threads = 1;  ///< worker threads of this rank, >= 1
  std::string strategy = "allreduce";
  std::size_t bucket_bytes = 0;  ///< 0: chosen
  UpdateOptions update;
};

/// `lane = "auto"`: a sixteenth of the batch, at least 8 samples, the next divisor of the batch above that.
std::int64_t auto_lane(std::int64_t batch);

/// Executes training steps: the lanes of a step are spread over the ranks of a group and over this rank's
/// worker threads; each worker runs neighbouring lanes together, single-threaded; gradients are summed over
/// lanes, threads and ranks; every rank then makes the same update. Owns parameters, gradients and optimizer
/// state of one model.
class LaneEngine {
 public:
  /// Collective over `group`. `loader` feeds it; both and `optimizer` must outlive the engine. Throws Error,
  /// on all ranks, if batch is not a multiple of lane, ranks disagree on the parameter layout, or one of them
  /// fails.
  LaneEngine(const nn::Graph& graph, const EngineOptions& options, const data::BatchLoader& loader,
             const optim::Optimizer& optimizer, const mpi::Communicator& group);
  ~LaneEngine();

  /// One training step over `samples` (the ids of the whole global batch, at most options.batch). Collective.
  /// What one rank throws, all throw (mpi::agree); the engine is of no use then.
  struct StepResult {
    /// Mean over the batch, and penalties. Not finite: the update was not made, see diagnose().
    double loss = 0;
    double accuracy = 0;  ///< of the forward pass of training, as Keras reports it
  };
  /// `repeats`: see data::EpochPlan.
  StepResult step(std::uint32_t epoch, std::span<const std::uint32_t> samples, double learning_rate,
                  std::span<const std::uint32_t> repeats = {});

  /// After a step with a loss that is not finite, whose samples must still be there: "conv2d_2 on rank 1".
  /// Collective.
  std::string diagnose();

  const nn::ParameterLayout& layout() const;
  std::span<float> parameters();  ///< layout().size() floats, plan layout, statistics included
  std::span<float> optimizer_state(std::size_t slot);  ///< layout().trainable_size() floats each
  /// Their moving average, layout().size() floats; none without options.update.ema. Means something after a
  /// step.
  std::span<float> average();
  /// What to evaluate and to keep: the average where there is one, else parameters().
  std::span<const float> result();
  std::int64_t steps_done() const;
  void set_steps_done(std::int64_t steps);  ///< when resuming

  double exposed_seconds() const;  ///< communication not hidden, sum over all steps, this rank
  /// After a step: the plan that this rank's first worker ran, to look at or to time; null if it had no lane.
  nn::Network* plan();
  std::size_t plan_bytes() const;  ///< activation memory of all workers

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoke::engine
