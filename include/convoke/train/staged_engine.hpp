#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoke/engine/canonical.hpp"
#include "convoke/engine/replica.hpp"
#include "convoke/engine/step_engine.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/train/feature_cache.hpp"
#include "convoke/train/groups.hpp"
#include "convoke/train/reports.hpp"

namespace convoke::train {

/// References that the parts of a Trainer share: the model, its samples, its ranks, and the logs.
/// The objects must outlive these parts.
struct ModelContext {
  const Job& job;
  Assignment assignment;
  const data::BatchLoader& loader;  ///< of the training samples
  const mpi::Communicator& group;
  Reports reports;
  run::Phases& phases;
};

/// The engine of one model through the stages of its training. If a stage changes the set of trained
/// parameters, their order changes, so a new engine is made from the canonical parameters, their average and
/// the optimizer's state; newly unfrozen parameters start without optimizer state. With Job::cache_features,
/// and as long as the backbone is frozen, the engine trains only the network behind it, on samples from a
/// FeatureCache. A stage that unfreezes a part of the backbone replaces the cache by one of the part that is
/// still frozen. The strategy decides in which epochs the ranks of the group share an engine, and in which
/// each has its own; these ranks then average their models when they synchronize.
class StagedEngine {
 public:
  /// Collective over the group. `context` must outlive it.
  explicit StagedEngine(const ModelContext& context);

  /// Starts from the given weights instead of initial values. Collective.
  void start_from(const run::InitialWeights& weights);

  /// Call it before the epoch after `epochs_done`: enters its stage and computes missing features. Returns
  /// false if `stop` was true meanwhile on a rank that computed them; then the epoch cannot begin.
  /// Collective. Throws Error if the first cache cannot be made, or if the shared cache of all members was
  /// made with other frozen weights.
  bool begin_epoch(std::int64_t epochs_done, const FeatureCache::Stop& stop);

  /// See engine::Replica.
  void step(std::uint32_t epoch, std::span<const std::uint32_t> samples, double learning_rate,
            std::span<const std::uint32_t> repeats);
  /// The engine that makes the steps. begin_epoch() and restore() may replace it.
  engine::Replica& replica() const { return *replica_; }

  /// See engine::StepEngine; empty on ranks that share the memory of another one, which looks at it.
  std::string first_bad_parameter() {
    return replica_->engine().writes() ? replica_->engine().first_bad_parameter() : std::string();
  }

  /// The base learning rate of the stage.
  double learning_rate() const { return learning_rate_; }
  /// The canonical parameters of the whole network, to evaluate and to store. Collective.
  std::vector<float> result();

  /// The cache that replaces the samples of the epoch; null: none.
  const FeatureCache* features() const { return features_; }

  /// True if each rank has an optimizer state of its own, which a checkpoint must hold.
  bool keeps_states() const;
  /// Returns them, except the root's, at the root. Collective.
  std::vector<std::vector<float>> gather_states();

  /// Fill the canonical arrays of `state` except other_optimizers, and load them all, with the number of
  /// updates; restore() takes the arrays out of `state`. It enters the stage that `state` was in, and is
  /// collective. It makes a new engine if the old one has made steps. Throws Error on all ranks if the arrays
  /// do not fit.
  void capture(run::CheckpointState& state);
  void restore(run::CheckpointState& state);
  /// Begins again with initial values. Collective.
  void restart();

 private:
  void make_engine(std::size_t stages, std::int64_t epoch);
  void restore_engine(run::CheckpointState& state);
  template <class Array>
  std::vector<float> canonical(const Array& array) const;
  void take_own_state(run::CheckpointState& state) const;
  void enter(std::size_t stages, std::size_t cached, std::int64_t epoch);
  void open_features(std::size_t last, const std::vector<float>& parameters);
  bool compute_features(std::int64_t epochs_done, const FeatureCache::Stop& stop);
  std::vector<float> whole(std::vector<float> parameters) const;

  const ModelContext& context_;
  engine::EngineOptions options_;
  std::int64_t steps_per_epoch_;
  std::vector<engine::CanonicalParameter> parameters_;  // of the whole network

  // State of the current stage.
  std::size_t stages_begun_ = 0;
  std::size_t cached_ = 0;  // its cached_node()
  double learning_rate_ = 0;
  std::unique_ptr<FeatureCache> own_;  // used if the members share no cache
  FeatureCache* features_ = nullptr;   // in use; null: none, or the cache could not be made
  nn::Graph graph_;                    // what the replica trains
  std::unique_ptr<engine::Replica> replica_;
  bool used_ = false;  // step() was called, on all ranks alike; the steps that each made may differ
};

}  // namespace convoke::train
