#pragma once
#include <cstdint>
#include <filesystem>
#include <span>

#include "convoke/data/batch_loader.hpp"
#include "convoke/data/epoch_plan.hpp"
#include "convoke/data/read_ahead.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

class FeatureCache;

/// Which model a trainer trains, and on what.
struct Assignment {
  std::int64_t member = 0;
  std::uint64_t seed = 0;
  std::span<const std::uint32_t> training;    ///< sample ids
  std::span<const std::uint32_t> validation;  ///< may be empty
  /// Whose samples `validation` numbers; null: that of training.
  const data::BatchLoader* validation_loader = nullptr;
  FeatureCache* features = nullptr;         ///< of all members together; null: a cache of its own, if any
  std::filesystem::path feature_file = {};  ///< where that may be
};

/// The samples of an epoch (counted from 0) in their order: a pure function of the job, the assignment's seed
/// and the epoch. `loader`: of the training samples.
data::EpochPlan plan_epoch(const Job& job, const Assignment& assignment, const data::BatchLoader& loader,
                           std::int64_t epoch);

/// Which samples of a step this rank of the group takes, in lanes of `lane`: those that it reads ahead.
data::ReadAhead::Share share_of_rank(std::int64_t lane, const mpi::Communicator& group);

}  // namespace convoke::train
