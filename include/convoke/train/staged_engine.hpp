#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoke/engine/canonical.hpp"
#include "convoke/engine/lane_engine.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/train/assignment.hpp"
#include "convoke/train/feature_cache.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// The engine of one model through the stages of its training. Where a stage trains other parameters than the
/// one before, they lie in another order, so the engine is made anew from canonical parameters, their average
/// and the optimizer's state; what was frozen until then starts without any. With Job::cache_features it is
/// the engine of the network behind its frozen beginning as long as that is frozen, fed by a FeatureCache.
class StagedEngine {
 public:
  /// Collective over `group`. Everything given must outlive it.
  StagedEngine(const Job& job, const Assignment& assignment, const data::BatchLoader& loader,
               const mpi::Communicator& group, run::Phases& phases);

  /// Starts from the weights that are given instead of initial values. Collective.
  void start_from(const run::InitialWeights& weights);

  /// To be called before the epoch after `epochs_done`. True if a stage begins with it. Collective. Throws
  /// Error if a cache of all members was made with other frozen weights than these.
  bool begin_epoch(std::int64_t epochs_done);

  engine::LaneEngine::StepResult step(std::uint32_t epoch, std::span<const std::uint32_t> samples,
                                      double learning_rate, std::span<const std::uint32_t> repeats);
  std::string diagnose() { return engine_->diagnose(); }

  /// The base rate of the stage.
  double learning_rate() const { return learning_rate_; }
  /// What to evaluate and to keep, canonical, of the whole network. Collective.
  std::vector<float> result();

  /// What the epoch's samples are read from in place of them; null: nothing.
  const FeatureCache* features() const { return features_; }

  /// Fills the arrays of `state`, and takes them: run::capture() and run::restore(). The latter enters the
  /// stage that `state` was in, and is collective.
  void capture(run::CheckpointState& state);
  void restore(run::CheckpointState& state);

  double exposed_seconds() const { return exposed_seconds_ + engine_->exposed_seconds(); }

 private:
  void make_engine(std::size_t stages);
  bool prefix_is_frozen(const nn::Graph& graph) const;
  void open_features(const std::vector<float>& parameters);
  std::vector<float> whole(std::vector<float> parameters) const;

  const Job& job_;
  const Assignment& assignment_;
  engine::EngineOptions options_;
  const data::BatchLoader& loader_;
  const mpi::Communicator& group_;
  run::Phases& phases_;
  std::int64_t steps_per_epoch_;
  std::vector<engine::CanonicalParameter> parameters_;  // of the whole network

  // Of the stage.
  std::size_t stages_begun_ = 0;
  double learning_rate_ = 0;
  std::unique_ptr<FeatureCache> own_;  // if it is not shared by the members
  FeatureCache* features_ = nullptr;   // in use
  nn::Graph graph_;                    // what the engine trains
  std::unique_ptr<engine::LaneEngine> engine_;
  double exposed_seconds_ = 0;  // of the engines before
};

}  // namespace convoke::train
