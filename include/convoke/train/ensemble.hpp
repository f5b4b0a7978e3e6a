#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/train/groups.hpp"
#include "convoke/train/job.hpp"
#include "convoke/train/trainer.hpp"

namespace convoke::train {

/// Where samples come from.
struct Feed {
  Feed(const data::BatchLoader& training_samples,  // NOLINT: a conversion
       const data::BatchLoader* validation_samples = nullptr)
      : training(training_samples), validation(validation_samples) {}

  const data::BatchLoader& training;
  const data::BatchLoader* validation;  ///< a split of its own for all members; null: Job::validation_split
};

/// A member as it comes out of training.
struct TrainedMember {
  run::Member model;
  std::string failure;  ///< why it has left the vote; empty if it has not
  run::StopReason interrupted_by;
  std::int64_t epochs_done = 0;
  std::int64_t steps = 0;       ///< since its start
  std::int64_t stopped_at = 0;  ///< steps after which early stopping ended its training; 0: it did not
  std::int64_t samples_processed = 0;
};

/// What training gives on one rank. One synchronous model is an ensemble of one member whose group is the
/// world.
struct Training {
  std::vector<TrainedMember> members;  ///< those that this rank's group trained
  std::vector<Settings> log;  ///< lines for metrics.jsonl that are not in it yet (group roots beyond rank 0)
  run::StopReason interrupted_by;  ///< on some rank of the world: the same on all
};

/// Whether this can be trained at all, of all members, before anything is written: see
/// require_batch_statistics and require_memory, whose result it returns. Collective over `world`. Throws
/// Error on all ranks.
std::uint64_t require_trainable(const Job& job, const Feed& feed, const Groups& groups,
                                const mpi::Communicator& world);

/// Trains the job's members, each by its group. A member of an ensemble that fails (its loss diverges, its
/// samples cannot be read, its memory is not enough) is left behind with the reason, and the others go on.
/// What ends the job is thrown on the ranks that meet it: JobError, what goes wrong with features or
/// checkpoints that training begins with, and in a group of several ranks what mpi::together() does not
/// guard. `quiet`: no progress. Collective over `world`.
Training train_members(const Job& job, const Feed& feed, const Groups& groups, const mpi::Communicator& world,
                       const run::RunFolder& folder, bool resume, bool quiet, run::Phases& phases);

/// All members, in order, with their parameters at rank 0 and everything else on all ranks. Collective.
std::vector<TrainedMember> gather(std::vector<TrainedMember> mine, const Groups& groups,
                                  const mpi::Communicator& world);

}  // namespace convoke::train
