#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/run/background_writer.hpp"
#include "convoke/run/best_models.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/phases.hpp"
#include "convoke/train/job.hpp"
#include "convoke/train/reports.hpp"
#include "convoke/train/staged_engine.hpp"

namespace convoke::train {

/// Keeps the state of training while it goes on: when the job says so, the group's root copies it, and a
/// thread writes the copy. A checkpoint that cannot be written is a warning, and the ones before it stay.
class Checkpointing {
 public:
  /// Everything given must outlive it. The root makes the folder. Collective; throws Error on all ranks if
  /// that cannot be.
  Checkpointing(const Job& job, StagedEngine& engine, const mpi::Communicator& group,
                run::Checkpoints checkpoints, const Reports& reports, run::Phases& phases);
  ~Checkpointing();
  Checkpointing(const Checkpointing&) = delete;
  Checkpointing& operator=(const Checkpointing&) = delete;

  /// After a step that does not end its epoch, and after each epoch.
  void after_step(const run::CheckpointState& state);
  void after_epoch(const run::CheckpointState& state);
  /// A model file of a validation that is among the best so far. `parameters`: canonical.
  void keep_best(const std::vector<float>& parameters, const run::Validated& validated);
  /// When no step follows: the last state is on disk when this returns. Throws JobError at the root if it is
  /// not, and `needed`: nobody can go on from here then.
  void finish(const run::CheckpointState& state, bool needed);

  /// The newest usable state, the same on all ranks, or nothing if there is none; the engine has it then.
  /// Collective. Throws Error as run::Checkpoints::newest.
  std::optional<run::CheckpointState> resume();

 private:
  struct Position {
    std::int64_t epochs = -1, steps = -1;
    friend bool operator==(const Position&, const Position&) = default;
  };
  /// A model that is to be among the best; a failure is tried again.
  struct Best {
    run::Validated validated;
    std::vector<float> parameters;
    std::atomic<bool> written = false;
  };
  static Position position_of(const run::CheckpointState& state);
  void give_best(const std::vector<float>& parameters, const run::Validated& validated);
  void write(const std::shared_ptr<Best>& best);
  void note_written();
  void save(const run::CheckpointState& state);
  std::vector<std::string> failures();  // of the writer; they count as left out
  void report_failures();

  const Job& job_;
  StagedEngine& engine_;
  const mpi::Communicator& group_;
  const run::Checkpoints checkpoints_;
  const run::BestModels best_models_;
  const Reports& reports_;
  run::Phases& phases_;

  Position saved_;  // the newest that was given to the writer, or resumed from
  std::int64_t saved_updates_ = 0;
  os::Stopwatch since_saved_;
  std::vector<std::shared_ptr<Best>> unwritten_;  // or not known to be; at most keep_best
  std::vector<double> written_costs_;  // of the best known to be written, rising; at most keep_best
  run::BackgroundWriter writer_;       // last: it ends first
};

}  // namespace convoke::train
