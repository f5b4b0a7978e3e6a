#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/train/checkpointing.hpp"
#include "convoke/train/staged_engine.hpp"

namespace convoke::train {

/// Validates a model while it trains, keeps the best models, and applies early stopping.
class Validation {
 public:
  /// `engine`: if it caches features, features are read instead of the samples; those of a separate split are
  /// computed once. The arguments must outlive it. Throws Error if early stopping or the schedule has no
  /// validation samples.
  Validation(const ModelContext& context, const StagedEngine& engine, Checkpointing& checkpointing);

  /// True if there are samples to validate on.
  bool possible() const { return !context_.assignment.validation.empty(); }
  /// True if `validate_every` requires a validation after this many steps since the start.
  bool due(std::int64_t updates) const;

  /// Evaluate the canonical `parameters` after `state.updates` steps. Only the first call for a step does the
  /// work. The result is the same on all ranks. Collective over the group.
  void at_step(const std::vector<float>& parameters, run::CheckpointState& state);  ///< logs a line
  void at_epoch_end(const std::vector<float>& parameters, run::CheckpointState& state,
                    metrics::EpochFields& line);  ///< fills in `line`

  /// Call it when training goes back: the next validation may be after the step of the last, with other
  /// weights.
  void go_back() { latest_updates_ = -1; }

  /// Returns the weights to keep: the best if early stopping restores them, otherwise `last`. `state` as
  /// above; its validation accuracy becomes that of the returned weights.
  std::vector<float> kept(std::vector<float> last, run::CheckpointState& state) const;

 private:
  engine::Score score(const std::vector<float>& parameters, run::CheckpointState& state);
  const FeatureCache* features(const std::vector<float>& parameters);
  void record(const engine::Score& score, const std::vector<float>& parameters, run::CheckpointState& state);

  const ModelContext& context_;
  const data::BatchLoader& loader_;  // of the validation samples
  const StagedEngine& engine_;
  Checkpointing& checkpointing_;
  std::unique_ptr<FeatureCache> own_;           // of a separate split
  std::size_t own_tried_ = 0;                   // the last node for which it was made, or could not be made
  std::optional<engine::Evaluator> evaluator_;  // made at the first validation of a stage
  std::size_t cached_ = 0;                      // the node whose features the evaluator reads; 0: none
  std::size_t stages_ = 0;                      // whose penalties the evaluator adds
  engine::Score latest_;
  std::int64_t latest_updates_ = -1;  // the step to which latest_ belongs
};

}  // namespace convoke::train
