#pragma once
#include <cstdint>
#include <vector>

#include "convoke/run/run_folder.hpp"
#include "convoke/train/groups.hpp"
#include "convoke/train/job.hpp"
#include "convoke/train/samples.hpp"
#include "convoke/train/trainer.hpp"

namespace convoke::train {

/// The result of training on one rank. One synchronous model is an ensemble of one member whose group is the
/// world.
struct Training {
  std::vector<TrainedMember> members;  ///< the members that this rank's group trained
  run::StopReason interrupted_by;      ///< the same on all ranks of the world
};

/// Checks before anything is written that all members can be trained: calls require_samples,
/// require_batch_statistics, require_soups and require_memory, and returns the result of the latter.
/// `unread`: see require_memory. Collective over `world`. Throws Error on all ranks.
std::uint64_t require_trainable(const Job& job, const DataLoaders& loaders, const Groups& groups,
                                const mpi::Communicator& world, std::uint64_t unread = 0);

/// Trains the job's members, each by its group. A member of an ensemble that fails (its loss diverges, its
/// samples cannot be read, it runs out of memory) leaves the vote with a reason, and the others go on. A
/// group that trains several members keeps the parameters of all but the last in files without a name. An
/// error that ends the job is thrown on the ranks that meet it: JobError, an error with the features or
/// checkpoints that training starts from, and in a group of several ranks any error that mpi::together() does
/// not guard. `quiet`: print no progress. Collective over `world`.
Training train_members(const Job& job, const DataLoaders& loaders, const Groups& groups,
                       const mpi::Communicator& world, const run::RunFolder& folder, bool resume, bool quiet,
                       run::Phases& phases);

/// Returns all members in order, without their parameters, on all ranks. Collective.
std::vector<TrainedMember> list_members(const std::vector<TrainedMember>& mine, const Groups& groups,
                                        const mpi::Communicator& world);

/// Returns the checkpoints of a member (of the model, if there is one) in a run folder, with their fallback.
run::Checkpoints checkpoints_of(const Job& job, const run::RunFolder& run, std::int64_t member);

}  // namespace convoke::train
