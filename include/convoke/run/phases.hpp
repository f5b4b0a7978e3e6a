#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/os/clock.hpp"

namespace convoke::run {

/// Statistics of feature caches (train::FeatureCache) on this rank. Over all ranks the counts add up, the
/// seconds do not.
struct FeatureUse {
  std::int64_t computed = 0;    ///< samples that went through the frozen beginning of the network
  std::int64_t read = 0;        ///< samples whose features were read; counted by the root of a group
  std::int64_t bytes = 0;       ///< largest size of the caches; counted by the root of a node
  std::int64_t file_bytes = 0;  ///< largest size of those that are in files
  double seconds = 0;           ///< spent computing
  std::int64_t held = 0;        ///< size of the caches that exist now
  std::int64_t file_held = 0;   ///< of those that are in files

  /// Counts a cache of `change` bytes when it is made, and of -`change` bytes when it is freed.
  void hold(std::int64_t change, bool in_file) {
    held += change;
    if (in_file) file_held += change;
    bytes = std::max(bytes, held);
    file_bytes = std::max(file_bytes, file_held);
  }
  bool any() const { return computed > 0; }
  /// The share of the samples read that did not have to be computed.
  double hit_rate() const {
    return read == 0 ? 0 : 1 - static_cast<double>(std::min(computed, read)) / static_cast<double>(read);
  }
};

/// Sums the counts over the ranks, and takes the maximum of the seconds. Collective.
FeatureUse sum_over_ranks(const FeatureUse& mine, const mpi::Communicator& world);

/// Statistics of checkpoints on this rank. Over all ranks the counts add up, the seconds do not.
struct CheckpointUse {
  std::int64_t written = 0;    ///< files, including models of the best validations
  std::int64_t left_out = 0;   ///< skipped: the previous one was still being written, or the disk was full
  double longest_wait = 0;     ///< seconds that training waited for a copy of its state
  double longest_writing = 0;  ///< seconds, in parallel to training
};

/// Sums the counts over the ranks, and takes the maximum of the seconds. Collective.
CheckpointUse sum_over_ranks(const CheckpointUse& mine, const mpi::Communicator& world);

/// How this rank spends the time of a run, in seconds.
struct Phases {
  double load = 0;                   ///< opening the dataset and compiling the networks
  double steps = 0;                  ///< within training steps
  double exposed_communication = 0;  ///< the part of `steps` spent waiting for other ranks
  double checkpoint = 0;             ///< waiting for checkpoints
  double evaluation = 0;             ///< validation and test
  double gather = 0;                 ///< sending members to rank 0, and writing the model file
  double first_step = 0;             ///< from the construction of this object to the first training step

  FeatureUse features;
  CheckpointUse checkpoints;

  os::Stopwatch since_start;

  double compute() const { return steps - exposed_communication; }
};

/// Statistics of a time over the ranks, in seconds.
struct Spread {
  double max = 0, mean = 0, min = 0;
};

/// Statistics of each phase over the ranks: the largest compute() and the largest exposed_communication may
/// belong to different ranks, so only means may be added up.
struct PhaseSpreads {
  Spread load, steps, compute, exposed_communication, checkpoint, evaluation, gather, first_step;
};

/// The phases of each rank, by rank.
struct RankPhases {
  std::vector<double> load, steps, exposed_communication, checkpoint, evaluation, gather;
};

/// Gathers the phases at rank 0; empty elsewhere. Collective.
RankPhases phases_of_ranks(const Phases& mine, const mpi::Communicator& world);

/// Computes the statistics, the same on all ranks. Collective.
PhaseSpreads spread_over_ranks(const Phases& mine, const mpi::Communicator& world);

}  // namespace convoke::run
