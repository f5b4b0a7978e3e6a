#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/engine/model_average.hpp"
#include "convoke/engine/step_engine.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/sync/strategy.hpp"

namespace convoke::engine {

/// The model that this rank trains for a group, and its engine. A strategy decides whether the ranks of the
/// group train one model together, or each rank a model of its own, on its share of each batch, until the
/// models are averaged (local SGD): the ranks synchronize.
/// Between two synchronizations these ranks exchange nothing: a rank that fails, or whose loss is not finite,
/// makes no more steps, and all learn of it when they synchronize.
class Replica {
 public:
  /// Sums over the samples of the steps since the last synchronization.
  struct StepSums {
    double loss = 0, correct = 0;
    std::int64_t samples = 0, steps = 0;
  };

  /// Collective over `group`. `options`: those of the group, with the global batch; `epoch` (from 0): the
  /// first one that it trains. The arguments must outlive it. Throws Error on all ranks as StepEngine does,
  /// or if a rank that trains alone would have no micro-batch.
  Replica(const nn::Graph& graph, const EngineOptions& options, const data::BatchLoader& loader,
          const optim::Optimizer& optimizer, const mpi::Communicator& group, const sync::Strategy& strategy,
          std::int64_t epoch);

  StepEngine& engine() { return *engine_; }
  /// True if the ranks of the group share the engine.
  bool together() const { return !average_; }
  /// Returns the shares of the next step; equal ones if the ranks do not share the engine.
  const MicroBatchShares& shares() const { return together() ? engine_->shares() : equal_; }
  /// True if the ranks synchronize after step `step` (from 1) of an epoch; they may do so after others, too.
  bool synchronizes_after(std::int64_t epoch, std::int64_t step) const {
    return together() || strategy_.averages_after(epoch, step);
  }

  /// Makes the step of this replica, see StepEngine::step. `samples` and `repeats` are those of the whole
  /// batch; they must exist until the ranks synchronize.
  void step(std::uint32_t epoch, std::span<const std::uint32_t> samples, double learning_rate,
            std::span<const std::uint32_t> repeats);

  /// Returns the number of samples of the last step that this rank computed.
  std::int64_t samples() const { return samples_; }

  /// The sums of this replica.
  const StepSums& sums() const { return sums_; }
  /// Averages the models, and returns the sums over all replicas. If the loss is not finite, the models stay
  /// as they are, see diagnose(). Collective; throws the error of a rank that failed on all ranks.
  StepSums synchronize();
  /// See StepEngine::diagnose; call it after synchronize().
  std::string diagnose();

  /// What a restart needs in addition to the engine's parameters and states; see ModelAverage::change.
  std::span<float> change() { return average_ ? average_->change() : std::span<float>(); }

 private:
  StepSums sum_of_all() const;

  mpi::Communicator group_;
  const sync::Strategy& strategy_;
  std::int64_t micro_batch_;  ///< samples
  MicroBatchShares equal_;
  std::unique_ptr<StepEngine> engine_;
  std::optional<ModelAverage> average_;  ///< empty if the ranks share the engine

  // State since the last synchronization.
  StepSums sums_;
  std::int64_t samples_ = 0;
  bool synchronized_ = true;  ///< no step yet
  std::exception_ptr failure_;
};

}  // namespace convoke::engine
