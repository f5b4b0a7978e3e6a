#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "convoke/os/clock.hpp"
#include "convoke/run/background_writer.hpp"
#include "convoke/run/best_models.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/train/staged_engine.hpp"

namespace convoke::train {

/// Writes checkpoints into the run folder, and into the fallback folder of the job while that fails. A
/// failure is kept as a message instead of an exception, because training goes on. One thread writes, another
/// one asks.
class CheckpointStorage {
 public:
  explicit CheckpointStorage(run::Checkpoints checkpoints) : checkpoints_(std::move(checkpoints)) {}

  const run::Checkpoints& checkpoints() const { return checkpoints_; }

  /// Writes a state. Throws nothing: see news() and why_lost().
  void save(const run::CheckpointState& state);

  /// Counts since the start of this object.
  struct Counts {
    std::int64_t failed = 0;       ///< checkpoints that the run folder did not take
    std::int64_t in_fallback = 0;  ///< of these, those that are in the fallback folder
    std::int64_t lost() const { return failed - in_fallback; }
  };
  Counts counts() const;
  /// The reason if the newest state is in neither folder; otherwise empty.
  std::string why_lost() const;
  /// Returns a message when writing into the run folder begins to fail, when the fallback folder begins to
  /// fail too, and when it works again; otherwise nothing.
  std::optional<std::string> news();

 private:
  enum class State { kWorks, kInFallback, kLost };
  void note(State state, std::string message);

  const run::Checkpoints checkpoints_;
  mutable std::mutex mutex_;
  Counts counts_;
  State state_ = State::kWorks;
  std::string failure_;
  std::optional<std::string> news_;
};

/// Writes checkpoints while training goes on: at the intervals of the job, the root of the group copies the
/// state, and a thread writes the copy. If checkpoints cannot be written, a warning is printed once, and they
/// go to the fallback folder of the job, if it has one; the earlier checkpoints stay.
class Checkpointing {
 public:
  /// `context` and `engine` must outlive this object. The root creates the folder. Collective; throws Error
  /// on all ranks if the folder cannot be created.
  Checkpointing(const ModelContext& context, StagedEngine& engine, run::Checkpoints checkpoints);
  ~Checkpointing();
  Checkpointing(const Checkpointing&) = delete;
  Checkpointing& operator=(const Checkpointing&) = delete;

  /// Call it after each step that does not end its epoch and after which the ranks have synchronized, and
  /// after each epoch. Collective if the engine keeps states of ranks, as finish() then is.
  void after_step(const run::CheckpointState& state);
  void after_epoch(const run::CheckpointState& state);
  /// Writes a model file of a validation that is among the best so far. `parameters`: canonical; `epoch`: in
  /// which they were validated, counted from 1.
  void keep_best(const std::vector<float>& parameters, const run::Validated& validated, std::int64_t epoch);
  /// True at the root if the last checkpoint was not written because a parameter or its optimizer state is
  /// not finite: every file is good.
  bool refused() const { return refused_; }
  /// Returns the newest checkpoint on disk; empty if there is none. Call it at the root.
  std::filesystem::path newest_file();
  /// Returns to the newest usable state, as resume().
  std::optional<run::CheckpointState> go_back();
  /// Call it after the last step: when it returns, the last state is on disk. Throws JobError at the root if
  /// that state is not on disk and `needed` is set, because the run could not be resumed.
  void finish(const run::CheckpointState& state, bool needed);

  /// Loads the newest usable state into the engine and returns it, the same on all ranks; empty if there is
  /// none. Collective. Throws Error as run::Checkpoints::newest does.
  std::optional<run::CheckpointState> resume();

 private:
  struct Position {
    std::int64_t epochs = -1, steps = -1;
    friend bool operator==(const Position&, const Position&) = default;
  };
  /// A model that belongs to the best ones; the write is repeated if it fails.
  struct Best {
    run::Validated validated;
    std::int64_t epoch = 1;
    std::vector<float> parameters;
    std::atomic<bool> written = false;
  };
  static Position position_of(const run::CheckpointState& state);
  void give_best(const std::vector<float>& parameters, const run::Validated& validated, std::int64_t epoch);
  void write(const std::shared_ptr<Best>& best);
  void note_written();
  bool as_root(bool wanted) const;
  void save(const run::CheckpointState& state);
  void count_lost();
  void report_failures();

  const ModelContext& context_;
  StagedEngine& engine_;
  CheckpointStorage storage_;
  const run::BestModels best_models_;

  Position saved_;  // of the newest state that was passed to the writer or resumed from
  std::int64_t saved_updates_ = 0;
  bool refused_ = false;
  bool told_ = false;  // a warning says that best models cannot be written, and none was since
  os::Stopwatch since_saved_;
  CheckpointStorage::Counts counted_;             // in the phases
  std::vector<std::shared_ptr<Best>> unwritten_;  // or not confirmed as written; at most keep_best
  std::vector<double>
      written_costs_;             // of the best models confirmed as written, ascending; at most keep_best
  run::BackgroundWriter writer_;  // declared last, so that it is destroyed first
};

}  // namespace convoke::train
