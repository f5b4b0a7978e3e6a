#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/running/study_file.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// A run to make.
struct Task {
  std::size_t configuration = 0;
  std::int64_t repeat = 1;
  bool again = false;  ///< repeated because the first was contended
};

/// After this many consecutive failures, a configuration is abandoned until the study is resumed.
inline constexpr std::int64_t kFailuresInARow = 3;

/// Decides which run comes next. Round r makes run r of every configuration that needs one, in the order of
/// order_of_round(): up to `repeats` of all configurations, then of those whose makespan is less precise than
/// `target`, up to `at_most`. At the end of a round, contended runs are repeated once; those of an earlier
/// session are repeated first. Independent of processes.
class RunSchedule {
 public:
  /// `rules`: repeats, at_most, target, seed.
  RunSchedule(const StudyFile& rules, std::size_t configurations);

  /// Records a run that was made, now or before the study was resumed. `seconds`: its total time, for
  /// estimates; earlier runs: 0, then it is `turns` times the makespan: members were trained in turn.
  void record(std::size_t configuration, const Measurement& run, double seconds = 0, std::int64_t turns = 1);

  /// Returns the next run that probably ends within `seconds_left`; empty if there is none.
  std::optional<Task> next(std::optional<double> seconds_left);
  /// The number of runs that next() left out for lack of time.
  std::int64_t left_out() const { return left_out_; }

  /// True if the configuration's interval is narrow enough, at_most runs are made, or the configuration was
  /// abandoned.
  bool is_done(std::size_t configuration) const;
  bool is_given_up(std::size_t configuration) const {
    return configurations_[configuration].failures >= kFailuresInARow;
  }
  /// Returns how many more runs the configuration probably needs, by the scatter so far.
  std::int64_t runs_left(std::size_t configuration) const;
  /// Returns how many runs of all configurations are probably left; counts repeated runs too.
  std::int64_t runs_left() const;
  /// Returns the probable time of these runs.
  double seconds_left() const;
  /// Returns the probable time of a run of the configuration; the mean over all configurations if it was
  /// never run; 0 if unknown.
  double expected_seconds(std::size_t configuration) const;

 private:
  struct History {
    std::vector<Measurement> runs;  // that did not fail
    std::optional<Statistics> makespan =
        {};                             // of counted runs, on the machine with the most; none before a run
    double seconds = 0;                 // their sum
    std::int64_t failures = 0;          // consecutive, in this session
    std::map<std::int64_t, bool> made;  // repeats that did not fail; true if not contended, or repeated
  };
  bool wants(std::size_t configuration, std::int64_t repeat) const;
  std::int64_t runs_ahead(std::size_t configuration) const;
  void begin_round();

  StudyFile rules_;
  std::vector<History> configurations_;
  std::int64_t round_ = 0;
  std::deque<Task> queue_;
  std::vector<Task> contended_;  // not in a queue yet
  std::int64_t left_out_ = 0;
};

}  // namespace convoke::study
