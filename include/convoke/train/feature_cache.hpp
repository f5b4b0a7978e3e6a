#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/node_memory.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// The outputs (features) of the frozen beginning of a network (nn::frozen_prefix) for all samples of a
/// split. The ranks of a node compute them together once per sample and view, keep them once per node, and
/// later read them instead of the samples. A view is the augmented version of a sample in one epoch; epoch e
/// uses view e modulo Job::cache_features.
///
/// The samples are taken in order of their ids, one lane at a time, by the plan of one lane: the bits depend
/// only on the network, the sample and its neighbours in that order.
class FeatureCache {
 public:
  /// Collective over `node`. `parameters`: canonical, of the whole network. `file`: see run::NodeMemory.
  /// Arguments passed by reference must outlive it. Throws Error if nothing is frozen at the beginning of the
  /// network.
  FeatureCache(const Job& job, const data::BatchLoader& samples, std::span<const float> parameters,
               const mpi::Communicator& node, const std::filesystem::path& file, run::Phases& phases);

  /// Selects the features of epoch `epoch` (counted from 0), and computes them if they are missing.
  /// Collective over the node at the first call for a view.
  void turn_to(std::int64_t epoch);

  /// Feeds an nn::suffix_of() the network.
  const data::BatchLoader& loader() const { return loader_; }
  /// The node of the network whose output is cached.
  std::size_t last_node() const { return last_; }
  /// The canonical parameters of the prefix: the first ones of the network's.
  std::span<const float> parameters() const { return parameters_; }

 private:
  std::size_t count() const { return static_cast<std::size_t>(samples_.split().count()); }
  std::span<float> view(std::size_t index) const;
  data::BatchLoader loader_of(std::size_t view) const;
  void compute(std::size_t view);

  const Job& job_;
  const data::BatchLoader& samples_;
  mpi::Communicator node_;
  run::Phases& phases_;
  std::size_t last_;
  engine::Evaluator prefix_;
  std::vector<float> parameters_;
  std::size_t features_;  // values per sample
  run::NodeMemory memory_;
  std::vector<bool> computed_;  // by view
  data::BatchLoader loader_;
};

/// Returns the path of a rank's feature cache, used if the cache is a file.
std::filesystem::path feature_file(const run::RunFolder& folder, const mpi::Communicator& world);

/// Makes the feature cache that all members of an ensemble share. Their networks begin alike if all frozen
/// weights are given (Job::weights). Members reach their epochs at different times, so all views are computed
/// at once. Returns null if the networks differ or there is only one model. Collective over `world`.
std::unique_ptr<FeatureCache> common_features(const Job& job, const data::BatchLoader& loader,
                                              const run::RunFolder& folder, const mpi::Communicator& world,
                                              run::Phases& phases);

}  // namespace convoke::train
