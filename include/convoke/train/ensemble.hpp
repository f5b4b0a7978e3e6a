#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/train/groups.hpp"
#include "convoke/train/job.hpp"
#include "convoke/train/samples.hpp"
#include "convoke/train/trainer.hpp"

namespace convoke::train {

/// A member after training.
struct TrainedMember {
  run::Member model;
  std::string failure;  ///< why the member left the vote; empty if it votes
  run::StopReason interrupted_by;
  std::int64_t epochs_done = 0;
  std::int64_t steps = 0;       ///< since the start of its training
  std::int64_t stopped_at = 0;  ///< steps after which early stopping ended its training; 0: not stopped early
  std::int64_t samples_processed = 0;
};

/// The result of training on one rank. One synchronous model is an ensemble of one member whose group is the
/// world.
struct Training {
  std::vector<TrainedMember> members;  ///< the members that this rank's group trained
  std::vector<Settings> log;           ///< lines not yet in metrics.jsonl (on group roots other than rank 0)
  run::StopReason interrupted_by;      ///< the same on all ranks of the world
};

/// Checks before anything is written that all members can be trained: calls require_batch_statistics,
/// require_soups and require_memory, and returns the result of the latter. Collective over `world`. Throws
/// Error on all ranks.
std::uint64_t require_trainable(const Job& job, const Feed& feed, const Groups& groups,
                                const mpi::Communicator& world);

/// Trains the job's members, each by its group. A member of an ensemble that fails (its loss diverges, its
/// samples cannot be read, it runs out of memory) leaves the vote with a reason, and the others go on. An
/// error that ends the job is thrown on the ranks that meet it: JobError, an error with the features or
/// checkpoints that training starts from, and in a group of several ranks any error that mpi::together() does
/// not guard. `quiet`: print no progress. Collective over `world`.
Training train_members(const Job& job, const Feed& feed, const Groups& groups, const mpi::Communicator& world,
                       const run::RunFolder& folder, bool resume, bool quiet, run::Phases& phases);

/// Returns all members in order, with their parameters at rank 0 and everything else on all ranks.
/// Collective.
std::vector<TrainedMember> gather(const std::vector<TrainedMember>& mine, const Groups& groups,
                                  const mpi::Communicator& world);

}  // namespace convoke::train
