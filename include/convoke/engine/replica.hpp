#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/engine/state_array.hpp"
#include "convoke/engine/step_engine.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/sync/ordered_sum.hpp"
#include "convoke/sync/strategy.hpp"

namespace convoke::engine {

/// Averages the models that the ranks of a group have trained on their own for a round of steps: parameters,
/// running statistics, their moving average, and the optimizer's state as the strategy says. Ranks are added
/// in their order, so the result does not depend on where they run.
class ModelAverage {
 public:
  /// `engine`: of this rank alone; `slots`: its optimizer's states; `seed`: of the rounding of states in
  /// bf16, the same on all ranks. Collective over `group`; the arguments must outlive it.
  ModelAverage(StepEngine& engine, std::size_t slots, const mpi::Communicator& group,
               const sync::Strategy& strategy, std::uint64_t seed);

  /// Call it before the first step of a round, in which all ranks have the same parameters.
  void begin_round();
  /// Averages at the end of a round. Collective.
  void run();

  /// How a model is summed: in `count` sums of `floats`, one after another.
  struct Sums {
    std::size_t floats = 0, count = 0;
  };
  /// Returns the sums of run(), for an engine and `slots` states of its optimizer.
  static Sums sums_of(StepEngine& engine, std::size_t slots, sync::StateRule rule);

  /// The change of the trained parameters from one round to the next, which momentum needs; empty without
  /// momentum. A restart needs it.
  std::span<float> change() { return change_.span(); }

 private:
  void average(const StateArray& values, std::size_t number = 0);
  void add_momentum();

  StepEngine& engine_;
  std::size_t slots_;
  std::uint64_t seed_;
  sync::StateRule rule_;
  float momentum_;
  float share_;  ///< 1 / ranks
  sync::SumChannels channels_;
  AlignedBuffer<float> piece_;  ///< what is summed at a time, so that the memory of sums is bounded
  sync::OrderedSum<float> sum_;
  AlignedBuffer<float> begin_, change_;  ///< of trained parameters; empty without momentum
};

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
  StepEngine::Cause diagnose();

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
