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

/// What the frozen beginning of a network (nn::frozen_prefix) makes of all samples of a split: computed once
/// per sample and view by the ranks of a node together, kept once per node, and read from then on in place of
/// the samples. A view is what augmentation makes of a sample in one epoch; that of an epoch is its number
/// modulo Job::cache_features.
///
/// The samples are taken in order of their ids, always one lane of them together, by the plan of one lane:
/// the bits depend on nothing but the network, the sample and its neighbours in that order.
class FeatureCache {
 public:
  /// Collective over `node`. `parameters`: canonical, of the whole network. `file`: see run::NodeMemory. What
  /// is given by reference must outlive it. Throws Error if nothing is frozen at the beginning of the
  /// network.
  FeatureCache(const Job& job, const data::BatchLoader& samples, std::span<const float> parameters,
               const mpi::Communicator& node, const std::filesystem::path& file, run::Phases& phases);

  /// From now on the features of epoch `epoch` (from 0) are read, which are computed if they have not been.
  /// Collective over the node the first time of a view.
  void turn_to(std::int64_t epoch);

  /// Feeds a nn::suffix_of() the network.
  const data::BatchLoader& loader() const { return loader_; }
  /// The node of the network that puts out the features.
  std::size_t last_node() const { return last_; }
  /// The prefix's parameters, canonical: the first of the network's.
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

/// Where a rank's cache of features is a file if it is one.
std::filesystem::path feature_file(const run::RunFolder& folder, const mpi::Communicator& world);

/// The features of all members of an ensemble, whose networks begin alike if all their frozen weights are
/// given (Job::weights). Members go through their epochs each for itself, so all views are computed at once.
/// Null if they do not, or there is one model only. Collective over `world`.
std::unique_ptr<FeatureCache> common_features(const Job& job, const data::BatchLoader& loader,
                                              const run::RunFolder& folder, const mpi::Communicator& world,
                                              run::Phases& phases);

}  // namespace convoke::train
