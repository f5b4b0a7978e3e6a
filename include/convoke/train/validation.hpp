#pragma once
#include <optional>
#include <vector>

#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/train/assignment.hpp"
#include "convoke/train/checkpointing.hpp"
#include "convoke/train/job.hpp"
#include "convoke/train/reports.hpp"
#include "convoke/train/staged_engine.hpp"

namespace convoke::train {

/// Validates a model while it trains, and sees to what follows from it: the models of the best, and early
/// stopping.
class Validation {
 public:
  /// `loader`: of the training samples, a part of which may be held out. `engine`: whose features, if it has
  /// any, are read in place of those. Everything given must outlive it. Throws Error if early stopping has no
  /// samples to look at.
  Validation(const Job& job, const Assignment& assignment, const data::BatchLoader& loader,
             const StagedEngine& engine, const mpi::Communicator& group, Checkpointing& checkpointing,
             const Reports& reports, run::Phases& phases);

  /// True if there are samples to validate on.
  bool possible() const { return !assignment_.validation.empty(); }
  /// True if `validate_every` wants one after this many steps since the start.
  bool due(std::int64_t updates) const;

  /// Scores the canonical `parameters` that `state.updates` steps have led to. Of one and the same step only
  /// the first call does the work. The same on all ranks. Collective over the group.
  void at_step(const std::vector<float>& parameters, run::CheckpointState& state);  ///< logs a line
  void at_epoch_end(const std::vector<float>& parameters, run::CheckpointState& state,
                    metrics::EpochFields& line);  ///< fills it in

  /// The weights to keep: the best if early stopping restores them, else `last`. `state` as above; its
  /// validation accuracy becomes that of these.
  std::vector<float> kept(std::vector<float> last, run::CheckpointState& state) const;

 private:
  engine::Score score(const std::vector<float>& parameters, run::CheckpointState& state);
  void judge(const engine::Score& score, const std::vector<float>& parameters, run::CheckpointState& state);

  const Job& job_;
  const Assignment& assignment_;
  const data::BatchLoader& loader_;
  const StagedEngine& engine_;
  const mpi::Communicator& group_;
  Checkpointing& checkpointing_;
  const Reports& reports_;
  run::Phases& phases_;
  std::optional<engine::Evaluator> evaluator_;  // made at the first validation
  const FeatureCache* features_ = nullptr;      // that it reads
  engine::Score latest_;
  std::int64_t latest_updates_ = -1;  // the step that latest_ is of
};

}  // namespace convoke::train
