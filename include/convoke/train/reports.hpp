#pragma once
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/console.hpp"
#include "convoke/metrics/run_log.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/run/run_status.hpp"
#include "convoke/train/early_stopping.hpp"
#include "convoke/train/evaluation.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

class RunLogs;
struct Verdict;

/// Where a trainer reports its progress.
struct Reports {
  metrics::Progress& progress;          ///< silent on all ranks except one
  RunLogs* logs = nullptr;              ///< null on all ranks of the group except its root
  std::string title = {};               ///< "mnist-ensemble member 2/4"
  run::StatusWriter* status = nullptr;  ///< for `convoke watch`; null on all ranks except one

  /// Call it after `step` of `steps` since the start; `fields` of the epoch so far.
  void step_done(std::int64_t step, std::int64_t steps, const metrics::ProgressFields& fields) const;
  /// Call it at the end of an epoch of a member, after `updates` steps since the start. NaN values are left
  /// out of the log.
  void epoch_done(std::int64_t member, std::int64_t updates, const metrics::EpochFields& epoch) const;
  /// Call it when a member has diverged and goes back to `state`; `why`: the message of the divergence.
  void restored(std::int64_t member, const run::CheckpointState& state, const std::string& why) const;
};

/// The logs of the members of a group, at its root: metrics.jsonl and, if the job wants them, metrics.csv and
/// event files for TensorBoard, which belong to a member. Only rank 0 writes the first two, because several
/// hosts cannot safely append lines to one file on a network file system; other roots keep their records,
/// with a copy in metrics-<rank>.jsonl that outlives a job that is killed.
class RunLogs {
 public:
  /// `rank`: of the root. Job and folder must outlive the logs. Throws Error naming the file, on rank 0; on
  /// others there is no copy then, as on a host that does not see the folder.
  RunLogs(const Job& job, const run::RunFolder& folder, int rank = 0);
  ~RunLogs();  ///< tries again to write records that are kept; prints a warning if they are lost
  RunLogs(const RunLogs&) = delete;
  RunLogs& operator=(const RunLogs&) = delete;

  /// Call it before a member trains, and when it goes back. Removes the lines of metrics.jsonl and
  /// metrics.csv about it after its first `resumed_after` steps, because it makes these steps again. Throws
  /// JobError naming the file.
  void begin(std::int64_t member, std::optional<std::int64_t> resumed_after);
  /// Appends one of the records below. If that fails (a full disk), it keeps the record, prints a
  /// warning once, and tries again with the next record; beyond 100,000 records it drops the oldest. A
  /// line of metrics.csv, and points of curves, are left out then.
  void append(const Settings& record);
  /// Appends the evaluation of a split in place of those of earlier sessions, as append() does.
  void append_evaluation(const Settings& record);
  /// Appends the records of another root, about members of which it alone has trained. Removes the lines
  /// about them from the first of these steps on: those that an earlier job wrote after its last checkpoint.
  /// Returns false if some are not written yet, see append().
  bool append_of_another(const std::vector<Settings>& records);
  /// Call it on rank 0 before other roots make their logs: appends the copies that a killed job has left, and
  /// removes them. Renames a copy that is damaged to .damaged, with a warning.
  void append_copies();
  /// Call it after the last member: returns the records that only rank 0 writes, which the caller sends
  /// there.
  std::vector<Settings> end();
  /// Removes the copy of this root, which rank 0 does not need any more.
  void remove_copy();

 private:
  void write_lines();
  /// Removes the records and lines about members after so many of their steps. Throws Error naming the file.
  void remove_after(const std::map<std::int64_t, std::int64_t>& steps);

  const Job& job_;
  const run::RunFolder& folder_;
  int rank_;
  std::deque<Settings> unwritten_;
  bool warned_ = false;
  std::optional<metrics::RunLog> lines_;  // empty: only keeps the records
  std::optional<metrics::RunLog> copy_;   // of them
  std::optional<metrics::CsvLog> csv_;
  std::optional<metrics::EventFile> events_;  // of the member that trains
};

// The lines of metrics.jsonl; docs/formats.md lists their keys.

/// One step of a member, or the mean over the steps since its ranks last synchronized: `loss` and `accuracy`
/// are means over the samples. `updates` steps since the start, in epoch `epoch` (from 1).
Settings step_record(std::int64_t member, std::int64_t epoch, std::int64_t updates, double loss,
                     double accuracy, double learning_rate);

/// A validation of one member within an epoch, after `updates` steps since the start.
Settings validation_record(std::int64_t member, std::int64_t epoch, std::int64_t updates,
                           const engine::Score& score);

/// A member that stops early, described by `state`.
Settings early_stopping_record(std::int64_t member, const EarlyStopping& rule,
                               const run::CheckpointState& state);

/// An evaluation of all members on `split`.
Settings evaluation_record(const std::string& split, const Evaluation& evaluation);

// Writes event files of a run for TensorBoard: `tensorboard --logdir RUN`.

/// Returns the folder for the event files of a member: tensorboard/ in the run folder, or
/// tensorboard/member-000 in an ensemble.
std::filesystem::path events_folder(const Job& job, const run::RunFolder& folder, std::int64_t member);

/// Writes loss, accuracy, learning rate and speed of an epoch's or a validation's record
/// at its step; ignores other records. Throws Error naming the file.
void append_curves(metrics::EventFile& events, const Settings& record);

/// Writes the test results after the last step: those of each voting member to its folder, and in an ensemble
/// the accuracy of every rule to tensorboard/. Call it on one rank. Throws Error naming the file.
void append_test(const Job& job, const run::RunFolder& folder, const Verdict& verdict);

}  // namespace convoke::train
