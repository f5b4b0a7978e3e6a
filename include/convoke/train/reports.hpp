#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/progress.hpp"
#include "convoke/metrics/run_log.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/run/run_status.hpp"
#include "convoke/train/early_stopping.hpp"
#include "convoke/train/evaluation.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// Where a trainer reports its progress.
struct Reports {
  metrics::Progress& progress;               ///< silent on all ranks except one
  std::function<void(const Settings&)> log;  ///< takes a line for metrics.jsonl; may be empty
  std::string title = {};                    ///< "mnist-ensemble member 2/4"
  run::StatusWriter* status = nullptr;       ///< for `convoke watch`; null on all ranks except one
  /// Removes the lines after so many steps, which are made again; may be empty.
  std::function<void(std::int64_t updates)> forget = {};

  /// Call it after `step` of `steps` since the start; `fields` of the epoch so far.
  void step_done(std::int64_t step, std::int64_t steps, const metrics::ProgressFields& fields) const;
  /// Call it at the end of an epoch of a member, after `updates` steps since the start.
  void epoch_done(std::int64_t member, std::int64_t updates, const metrics::EpochFields& fields) const;
  /// Call it when a member has diverged and goes back to `state`; `why`: the message of the divergence.
  void restored(std::int64_t member, const run::CheckpointState& state, const std::string& why) const;
};

/// The logs of all members: metrics.jsonl and, if the job wants it, metrics.csv. Only rank 0 writes them,
/// because several hosts cannot safely append lines to one file on a network file system.
class RunLogs {
 public:
  /// Throws Error naming the file.
  RunLogs(const Job& job, const run::RunFolder& folder);
  ~RunLogs();  ///< tries again to write records that are kept; prints a warning if they are lost
  RunLogs(const RunLogs&) = delete;
  RunLogs& operator=(const RunLogs&) = delete;

  /// Appends one of the records below. If that fails (a full disk), it keeps the record, prints a
  /// warning once, and tries again with the next record; beyond 100,000 records it drops the oldest. A
  /// line of metrics.csv is left out then.
  void append(const Settings& record);
  /// Removes the lines of metrics.jsonl about a member after its first `updates` steps, because a resumed
  /// run makes these steps again. Throws Error naming the file.
  void forget_after(std::int64_t member, std::int64_t updates);

 private:
  void write_lines();

  std::deque<Settings> unwritten_;
  bool warned_ = false;
  metrics::RunLog lines_;
  std::optional<metrics::CsvLog> csv_;
};

/// True if a record is about a member after its first `updates` steps.
bool is_after(const Settings& record, std::int64_t member, std::int64_t updates);

// The lines of metrics.jsonl; docs/formats.md lists their keys.

/// The end of an epoch of one member, after `updates` steps since the start. NaN values are left out.
Settings epoch_record(std::int64_t member, std::int64_t updates, const metrics::EpochFields& epoch);

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

/// A member that diverged and went back to `state`.
Settings restore_record(std::int64_t member, const run::CheckpointState& state);

/// An evaluation of all members on `split`.
Settings evaluation_record(const std::string& split, const Evaluation& evaluation);

}  // namespace convoke::train
