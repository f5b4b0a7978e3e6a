#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/running/study_file.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// A run that is to be made.
struct Task {
  std::size_t cell = 0;
  std::int64_t repeat = 1;
  bool again = false;  ///< since the first was disturbed
};

/// After so many runs of a cell have failed, one after the other, the cell is given up until the study is
/// resumed.
inline constexpr std::int64_t kFailuresInARow = 3;

/// Which run comes next. Round r makes run r of every cell that wants one, in the order of order_of_round():
/// up to `repeats` all do, then those whose makespan is not yet known as well as `target` asks, up to
/// `at_most`. At the end of a round its disturbed runs are made once more, and in the beginning those of a
/// study that was stopped before. Knows nothing of processes.
class RunSchedule {
 public:
  /// `rules`: repeats, at_most, target, seed.
  RunSchedule(const StudyFile& rules, std::size_t cells);

  /// A run that has been made, now or before the study was resumed. `seconds` that it took in all, for
  /// estimates; those before: 0, their makespan is taken.
  void record(std::size_t cell, const Measurement& run, double seconds = 0);

  /// The next run that is likely to end within `seconds_left`; nothing if there is none.
  std::optional<Task> next(std::optional<double> seconds_left);
  /// Runs that next() has left out since there was no time for them.
  std::int64_t left_out() const { return left_out_; }

  /// Of the cell: its interval is narrow enough, at_most runs are made, or it was given up.
  bool is_done(std::size_t cell) const;
  bool is_given_up(std::size_t cell) const { return cells_[cell].failures >= kFailuresInARow; }
  /// Runs that the cell probably still needs beside those that are there, by the scatter so far.
  std::int64_t runs_left(std::size_t cell) const;
  /// Runs that are probably still to be made, of all cells: these, or as many as are made once more.
  std::int64_t runs_left() const;
  /// What they probably take.
  double seconds_left() const;
  /// What a run of the cell probably takes; of one that was never run, the mean of all. 0: nothing is known.
  double expected_seconds(std::size_t cell) const;

 private:
  struct History {
    std::vector<Measurement> runs;
    double seconds = 0;  // sum over `timed`
    std::int64_t timed = 0;
    std::int64_t failures = 0;          // in a row, in this session
    std::map<std::int64_t, bool> made;  // repeats that did not fail; whether undisturbed, or made twice
  };
  bool wants(std::size_t cell, std::int64_t repeat) const;
  std::int64_t runs_ahead(std::size_t cell) const;
  void begin_round();

  StudyFile rules_;
  std::vector<History> cells_;
  std::int64_t round_ = 0;
  std::deque<Task> queue_;
  std::vector<Task> disturbed_;  // that no queue has yet
  std::int64_t left_out_ = 0;
};

}  // namespace convoke::study
