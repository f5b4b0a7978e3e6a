#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "convoke/data/batch_loader.hpp"
#include "convoke/data/epoch_plan.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// The ranks of a world in groups of neighbors, one group for each member that trains at the same time. With
/// more members than groups, a group trains several members one after another (MemberQueue).
struct Groups {
  std::int64_t members = 1;
  std::int64_t count = 1;   ///< number of groups, min(members, ranks), including groups in other jobs
  std::int64_t mine = 0;    ///< the group of this rank: the first member that it trains
  mpi::Communicator group;  ///< its ranks
  bool equal = true;  ///< all groups have the same number of ranks, if there are more members than groups
};

/// Returns the group of `rank` when `ranks` ranks form `groups` groups whose sizes differ by at most one.
std::int64_t group_of(std::int64_t rank, std::int64_t ranks, std::int64_t groups);

/// Splits the world. `ranks`: the number of ranks of each group; empty: groups whose sizes differ by at most
/// one. Collective. Throws Error on all ranks if the groups have not as many ranks as the world, or if there
/// are more groups than members.
Groups split(const mpi::Communicator& world, std::int64_t members, std::span<const std::int64_t> ranks = {});

/// Makes all ranks the one group of `member`; other jobs train the other members. Throws Error unless
/// `member` (counted from 0) exists.
Groups only(const mpi::Communicator& world, std::int64_t member, std::int64_t members);

class FeatureCache;

/// The model that a trainer trains, and its samples.
struct Assignment {
  std::int64_t member = 0;
  std::uint64_t seed = 0;
  std::span<const std::uint32_t> training;    ///< sample ids
  std::span<const std::uint32_t> validation;  ///< may be empty
  /// The loader whose sample ids `validation` holds; null: the loader of the training samples.
  const data::BatchLoader* validation_loader = nullptr;
  /// The caches that all members share (common_features); empty: the trainer makes its own, if any.
  std::span<const std::unique_ptr<FeatureCache>> features = {};
  std::filesystem::path feature_file = {};  ///< where that cache may be stored
};

/// Returns the sample ids of an epoch (counted from 0) in their order: a pure function of the job, the
/// assignment's seed and the epoch. `loader`: loader of the training samples.
data::EpochPlan plan_epoch(const Job& job, const Assignment& assignment, const data::BatchLoader& loader,
                           std::int64_t epoch);

}  // namespace convoke::train
