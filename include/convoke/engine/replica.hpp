#pragma once
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/engine/lane_engine.hpp"
#include "convoke/engine/model_average.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/sync/strategy.hpp"

namespace convoke::engine {

/// The model that this rank trains for a group. Either the ranks of the group train one model together, or
/// each rank trains a model of its own, on its share of each batch, until the models are averaged: they meet.
/// Between two meetings these ranks exchange nothing: a rank that fails, or whose loss is not finite, makes
/// no more steps, and all learn of it when they meet.
class Replica {
 public:
  /// Sums over the samples of the steps since the last meeting.
  struct Tally {
    double loss = 0, correct = 0;
    std::int64_t samples = 0, steps = 0;
  };

  /// A replica whose engine all ranks of its group share.
  explicit Replica(LaneEngine& engine) : engine_(engine) {}
  /// A replica whose `engine` belongs to this rank alone. `slots`: states of its optimizer. Collective over
  /// `group`; the arguments must outlive it.
  Replica(LaneEngine& engine, std::size_t slots, const mpi::Communicator& group, std::int64_t lane,
          const sync::Strategy& strategy);

  /// Makes the step of this replica, see LaneEngine::step. `samples` and `repeats` are those of the whole
  /// batch; they must exist until the ranks meet.
  void step(std::uint32_t epoch, std::span<const std::uint32_t> samples, double learning_rate,
            std::span<const std::uint32_t> repeats);

  /// The sums of this replica.
  const Tally& tally() const { return tally_; }
  /// Averages the models, and returns the sums over all replicas. If the loss is not finite, the models stay
  /// as they are, see diagnose(). Collective; throws the error of a rank that failed on all ranks.
  Tally meet();
  /// Seconds in meetings, over all of them.
  double meeting_seconds() const { return meeting_seconds_; }
  /// See LaneEngine::diagnose; call it after meet().
  std::string diagnose();

  /// What a restart needs in addition to the engine's parameters and states; see ModelAverage::change.
  std::span<float> change() { return average_ ? average_->change() : std::span<float>(); }

 private:
  Tally sum_of_all() const;

  LaneEngine& engine_;
  std::optional<ModelAverage> average_;  ///< empty if the ranks share the engine
  std::optional<mpi::Communicator> group_;
  std::int64_t lane_ = 0;
  double meeting_seconds_ = 0;

  // State since the last meeting.
  Tally tally_;
  bool met_ = true;  ///< no step yet
  std::exception_ptr failure_;
};

}  // namespace convoke::engine
