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

/// The model that a trainer trains, and its samples.
struct Assignment {
  std::int64_t member = 0;
  std::uint64_t seed = 0;
  std::span<const std::uint32_t> training;    ///< sample ids
  std::span<const std::uint32_t> validation;  ///< may be empty
  /// The loader whose sample ids `validation` holds; null: the loader of the training samples.
  const data::BatchLoader* validation_loader = nullptr;
  FeatureCache* features = nullptr;  ///< shared by all members; null: the trainer makes its own, if any
  std::filesystem::path feature_file = {};  ///< where that cache may be stored
};

/// Returns the sample ids of an epoch (counted from 0) in their order: a pure function of the job, the
/// assignment's seed and the epoch. `loader`: loader of the training samples.
data::EpochPlan plan_epoch(const Job& job, const Assignment& assignment, const data::BatchLoader& loader,
                           std::int64_t epoch);

/// Returns the samples of a step that this rank of the group processes, in lanes (micro-batches) of `lane`
/// samples. The rank reads these ahead.
data::ReadAhead::Share share_of_rank(std::int64_t lane, const mpi::Communicator& group);

}  // namespace convoke::train
