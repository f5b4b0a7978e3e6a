#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

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

}  // namespace convoke::engine
