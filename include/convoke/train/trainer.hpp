#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "convoke/data/read_ahead.hpp"
#include "convoke/os/file.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/run/stopping.hpp"
#include "convoke/train/checkpointing.hpp"
#include "convoke/train/on_divergence.hpp"
#include "convoke/train/staged_engine.hpp"
#include "convoke/train/validation.hpp"

namespace convoke::train {

/// A member after training, or the one synchronous model.
struct TrainedMember {
  run::Member model;  ///< parameters only where it was trained, and not if they are stored
  std::shared_ptr<const os::MappedPart> stored;  ///< its parameters in a file, or null
  int rank = 0;                                  ///< the rank of the world that has its parameters
  std::string failure;                           ///< why the member left the vote; empty if it votes
  run::StopReason interrupted_by;                ///< if set, there is a checkpoint to resume from
  std::int64_t epochs_done = 0;
  std::int64_t steps = 0;         ///< since the start of its training
  std::int64_t steps_before = 0;  ///< of these, those of earlier sessions: the steps of the loaded checkpoint
  std::int64_t stopped_at = 0;  ///< steps after which early stopping ended its training; 0: not stopped early
  std::int64_t stopped_in = 0;  ///< the epoch, from 1, of that step; 0: not stopped early
  std::int64_t samples_processed = 0;  ///< by this run on all ranks of the group
  std::int64_t restores = 0;           ///< how often training diverged and went back (OnDivergence)
  double rate_factor = 1;              ///< of the learning rate, after restores and by the schedule

  /// Returns its canonical parameters, on the rank that has them.
  std::span<const float> parameters() const;
  /// Moves the parameters to a file without a name in `folder`. Throws Error, for example if the disk is
  /// full.
  void store(const std::filesystem::path& folder);
};

/// Trains one model with the ranks of one group.
class Trainer {
 public:
  /// Collective over the group. `stop` must outlive the trainer.
  Trainer(ModelContext context, run::StopAgreement& stop, run::Checkpoints checkpoints);

  /// Starts from the given weights instead of initial values. Collective.
  void start_from(const run::InitialWeights& weights);

  /// Resumes from the newest usable checkpoint, if there is one. Collective. Throws Error as
  /// Checkpoints::newest does.
  void resume();

  /// Steps since the start, including those of earlier runs.
  std::int64_t steps() const { return state_.updates; }

  /// Trains to the last epoch, until early stopping, or until a signal, and fills in `result`: the parameters
  /// are the best or the last, and the validation accuracy belongs to these. If the loss, a parameter or its
  /// optimizer state is not finite, goes back as Job::on_divergence says. Collective. Throws Divergence,
  /// SilentCorruption, JobError as Checkpointing::finish does, and any error of a rank of the group
  /// (mpi::GroupError, on all of them).
  void run(TrainedMember& result);

 private:
  void train(TrainedMember& result);
  void go_back(const Divergence& divergence);
  run::StopReason train_epoch();
  void read_ahead(const data::EpochPlan& plan, std::optional<data::ReadAhead>& ahead);
  void shares_changed(const data::EpochPlan& plan, std::optional<data::ReadAhead>& ahead);
  double take_step(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> repeats);
  bool must_synchronize() const;
  void synchronize();
  void log_step(const engine::Replica::StepSums& sums);
  void show(double images_per_second);
  void finish_epoch(double seconds, std::int64_t samples);
  void adapt_rate(double validation_loss);
  double rate_of(std::int64_t update) const;
  [[noreturn]] void diverged();
  void require_finite();
  [[noreturn]] void throw_divergence(const std::string& what, const char* hint);

  const ModelContext context_;
  run::StopAgreement& stop_;
  StagedEngine engine_;
  Checkpointing checkpointing_;
  Validation validation_;
  run::CheckpointState state_;  // only its array of the best weights is ever filled
  std::int64_t steps_per_epoch_ = 0;
  std::int64_t samples_processed_ = 0;
};

}  // namespace convoke::train
