#include "convoke/train/common_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "convoke/engine/canonical.hpp"
#include "convoke/nn/split.hpp"

namespace convoke::train {
namespace {

bool begin_alike(const Job& job) {
  if (job.cache_features == 0 || job.members == 1 || !job.weights) return false;
  const std::vector<engine::CanonicalParameter> frozen =
      engine::canonical_parameters(nn::prefix_of(job.model.graph, nn::frozen_prefix(job.model.graph)));
  return std::all_of(job.weights->given.begin(),
                     job.weights->given.begin() + static_cast<std::ptrdiff_t>(frozen.size()),
                     [](bool given) { return given; });
}

}  // namespace

std::filesystem::path feature_file(const run::RunFolder& folder, const mpi::Communicator& world) {
  return folder.file(fmt::format("features-{}.bin", world.rank()));
}

std::unique_ptr<FeatureCache> common_features(const Job& job, const data::BatchLoader& loader,
                                              const run::RunFolder& folder, const mpi::Communicator& world,
                                              run::Phases& phases) {
  if (!begin_alike(job)) return nullptr;
  auto features = std::make_unique<FeatureCache>(job, loader, job.weights->values, world.split_node(),
                                                 feature_file(folder, world), phases);
  for (std::int64_t epoch = 0; epoch < std::min(job.cache_features, job.epochs); ++epoch) {
    features->turn_to(epoch);
  }
  return features;
}

}  // namespace convoke::train
