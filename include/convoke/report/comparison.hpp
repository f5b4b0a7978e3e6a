#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/page.hpp"
#include "convoke/report/run_record.hpp"
#include "convoke/report/table.hpp"

namespace convoke::report {

/// The results of a finished run that a comparison uses.
struct RunResult {
  std::string folder;
  std::string name;  ///< in the comparison
  bool ensemble = false;
  std::string provenance;           ///< of its samples
  std::string content_hash, split;  ///< of its test samples; empty: not known
  std::int64_t ranks = 0, threads = 0, members = 0, samples = 0;
  std::int64_t missing = 0;  ///< members that have left the vote
  Workers workers;
  std::optional<double> validation_accuracy =
      {};  ///< [0, 1], of the samples held out; the mean over the members
  double accuracy = 0, precision = 0, recall = 0, f1 = 0;
  double makespan = 0, core_seconds = 0, images_per_second = 0;

  /// "synchronous, 2 x 1" or "ensemble of 2, 2 x 1"; with a mark if members failed or threads shared cores.
  std::string title() const;
};

/// The results of a complete run, named by its title. Throws Error naming its summary.json if a number is
/// missing.
RunResult result_of(const RunRecord& run);

/// Distinct names of runs: `titles` if these differ, else with the names of their folders, else with a
/// number.
std::vector<std::string> names_apart(std::vector<std::string> titles, std::span<const std::string> folders);

/// A row for each result, a column for each run; the speed-up is over the first run.
Table side_by_side(std::span<const RunResult> runs);

/// Sentences: which of two runs did better, and why others could not be judged.
struct Judgement {
  std::vector<std::string> verdicts, unjudged;
};

/// Compares each ensemble with each synchronous run on as many cores that was tested on the same samples:
/// which did better, and whether the samples are enough to tell. The more accurate run is better only if it
/// costs no more, within 5 %. Facts of the samples that are not known count as equal.
Judgement judge(std::span<const RunResult> runs);

/// Whether all were tested on the same samples, as far as is known.
bool tested_alike(std::span<const RunResult> runs);

/// Two runs or more on a page: their results side by side, curves in common charts, speed-up and efficiency
/// over the first, and the differences of their recipes and machines. Runs that are not complete are in the
/// curves only, with a warning. `made_by`: a line on how the page was made.
Page comparison_page(std::span<const RunRecord> runs, const std::string& made_by);

}  // namespace convoke::report
