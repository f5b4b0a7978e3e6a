#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
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

/// Returns the node whose output is cached once the first `stages` stages of the job have begun: the end of
/// the part that is still frozen then (nn::frozen_prefix). 0: no cache. Throws Error if the job wants a
/// cache, but the first layers of its own network are not frozen.
std::size_t cached_node(const Job& job, std::size_t stages);

/// The outputs (features) of the frozen backbone of a network for all samples of a split. The ranks of a
/// node compute them together once per sample and view, keep them once per node, and later read them instead
/// of the samples. A view is the augmented version of a sample in one epoch; epoch e uses view e modulo the
/// number of views.
///
/// The samples are taken in order of their ids, one micro-batch at a time, by the plan of one micro-batch:
/// the bits depend only on the network, the sample and its neighbors in that order.
class FeatureCache {
 public:
  /// True if this rank should leave long work early.
  using Stop = std::function<bool()>;

  /// Caches the output of node `last`, a cached_node(), for `views` views of each sample. `parameters`:
  /// canonical, of the whole network. `file`: see run::NodeMemory. Arguments passed by reference must outlive
  /// it. Collective over `node`.
  FeatureCache(const Job& job, std::size_t last, const data::BatchLoader& samples, std::int64_t views,
               std::span<const float> parameters, const mpi::Communicator& node,
               const std::filesystem::path& file, run::Phases& phases);
  ~FeatureCache();
  FeatureCache(const FeatureCache&) = delete;
  FeatureCache& operator=(const FeatureCache&) = delete;

  /// True if the features of epoch `epoch` (counted from 0) are computed.
  bool has(std::int64_t epoch) const { return computed_[index_of(epoch)]; }
  /// Selects the features of an epoch, and computes them if they are missing. Each rank asks `stop` before
  /// every micro-batch that its threads compute; returns false on all ranks of the node, without features, if
  /// it was true on one of them. Collective over the node at the first call for a view.
  bool select_epoch(std::int64_t epoch, const Stop& stop);

  /// Feeds an nn::suffix_of() the network.
  const data::BatchLoader& loader() const { return loader_; }
  /// The node of the network whose output is cached.
  std::size_t last_node() const { return last_; }
  /// The number of samples whose features it holds.
  std::size_t count() const { return static_cast<std::size_t>(samples_.split().count()); }
  /// The canonical parameters of the prefix: the first ones of the network's.
  std::span<const float> parameters() const { return parameters_; }

 private:
  std::size_t index_of(std::int64_t epoch) const {
    return static_cast<std::size_t>(epoch) % computed_.size();
  }
  std::span<float> view(std::size_t index) const;
  data::BatchLoader loader_of(std::size_t index) const;
  bool compute(std::size_t index, const Stop& stop);
  void count_bytes(std::int64_t sign);

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

/// Returns the number of views of a training sample that the job caches.
std::int64_t cached_views(const Job& job);

/// Returns the path of a rank's feature cache, used if the cache is a file.
std::filesystem::path feature_file(const run::RunFolder& folder, const mpi::Communicator& world);

/// Makes the feature caches that all members of an ensemble share, one for each cached_node() of the stages.
/// Their networks begin alike if all frozen weights are given (Job::weights). Members reach their epochs at
/// different times, so all views are computed at once. Returns no caches if the networks differ, if there is
/// only one model, or if `stop` was true on a rank. Collective over `world`.
std::vector<std::unique_ptr<FeatureCache>> common_features(const Job& job, const data::BatchLoader& loader,
                                                           const run::RunFolder& folder,
                                                           const mpi::Communicator& world,
                                                           run::Phases& phases,
                                                           const FeatureCache::Stop& stop);

}  // namespace convoke::train
