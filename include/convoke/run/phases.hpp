#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/os/clock.hpp"

namespace convoke::run {

/// What caches of features have done (train::FeatureCache). Of this rank; over all ranks these add up, but
/// the seconds.
struct FeatureUse {
  std::int64_t computed = 0;    ///< samples that the frozen beginning of the network was run on
  std::int64_t read = 0;        ///< samples whose features were taken; counted by the root of a group
  std::int64_t bytes = 0;       ///< of the caches; counted by the root of a node
  std::int64_t file_bytes = 0;  ///< the part of them that is in files
  double seconds = 0;           ///< spent computing

  bool any() const { return computed > 0; }
  /// The part of what was read that had not to be computed for it.
  double hit_rate() const {
    return read == 0 ? 0 : 1 - static_cast<double>(std::min(computed, read)) / static_cast<double>(read);
  }
};

/// Sums over the ranks, and the most seconds of one. Collective.
FeatureUse sum_over_ranks(const FeatureUse& mine, const mpi::Communicator& world);

/// What keeping checkpoints took. Of this rank; over all ranks the numbers add up, the seconds do not.
struct CheckpointUse {
  std::int64_t written = 0;    ///< files, models of the best validation among them
  std::int64_t left_out = 0;   ///< the one before was still being written, or the disk was full
  double longest_wait = 0;     ///< seconds that training stood still: for the copy of its state
  double longest_writing = 0;  ///< seconds, beside the training
};

/// Sums over the ranks, and the most seconds of one. Collective.
CheckpointUse sum_over_ranks(const CheckpointUse& mine, const mpi::Communicator& world);

/// Where the time of a run goes on this rank, in seconds.
struct Phases {
  double load = 0;                   ///< opening the dataset and compiling what works on it
  double steps = 0;                  ///< within training steps
  double exposed_communication = 0;  ///< the part of `steps` spent waiting for other ranks
  double checkpoint = 0;             ///< standing still for checkpoints
  double evaluation = 0;             ///< validation and test
  double gather = 0;                 ///< members to rank 0, and writing the model file
  double first_step = 0;             ///< from the making of this object to the first training step

  FeatureUse features;
  CheckpointUse checkpoints;

  os::Stopwatch since_start;

  double compute() const { return steps - exposed_communication; }
};

/// A time over the ranks, in seconds.
struct Spread {
  double max = 0, mean = 0, min = 0;
};

/// Phases over the ranks, each for itself: the largest compute() and the largest exposed_communication may be
/// of different ranks, so only means may be added up.
struct PhaseSpreads {
  Spread load, steps, compute, exposed_communication, checkpoint, evaluation, gather, first_step;
};

/// The phases of each rank, by rank.
struct RankPhases {
  std::vector<double> load, steps, exposed_communication, checkpoint, evaluation, gather;
};

/// At rank 0; elsewhere empty. Collective.
RankPhases phases_of_ranks(const Phases& mine, const mpi::Communicator& world);

/// The same on all ranks. Collective.
PhaseSpreads spread_over_ranks(const Phases& mine, const mpi::Communicator& world);

}  // namespace convoke::run
