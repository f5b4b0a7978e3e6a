#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data/batch_loader.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/train/feature_cache.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// Where a rank's cache of features is a file if it is one.
std::filesystem::path feature_file(const run::RunFolder& folder, const mpi::Communicator& world);

/// The features of all members of an ensemble, whose networks begin alike if all their frozen weights are
/// given (Job::weights). Members go through their epochs each for itself, so all views are computed at once.
/// Null if they do not, or there is one model only. Collective over `world`.
std::unique_ptr<FeatureCache> common_features(const Job& job, const data::BatchLoader& loader,
                                              const run::RunFolder& folder, const mpi::Communicator& world,
                                              run::Phases& phases);

}  // namespace convoke::train
