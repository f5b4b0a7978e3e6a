#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/report/table.hpp"

namespace convoke::report {

/// What a comparison takes from a finished run.
struct RunResult {
  std::string folder;
  bool ensemble = false;
  std::string provenance;  ///< of its samples
  std::int64_t ranks = 0, threads = 0, members = 0, samples = 0;
  double accuracy = 0, precision = 0, recall = 0, f1 = 0;
  double makespan = 0, core_seconds = 0, images_per_second = 0;

  std::int64_t cores() const { return ranks * threads; }
  /// "synchronous, 2 x 1" or "ensemble of 2, 2 x 1".
  std::string title() const;
};

/// Of its summary.json. Throws Error naming `file` if a number is missing.
RunResult result_of(const Settings& summary, const std::string& folder, const std::string& file);

/// A line for each thing that is compared, a column for each run, called by `names`; the speed-up is over the
/// first.
Table side_by_side(std::span<const RunResult> runs, std::span<const std::string> names);

/// Of each ensemble and the first synchronous run that used as many cores, a sentence that says which did
/// better, and whether the test samples are enough to tell.
std::vector<std::string> verdicts(std::span<const RunResult> runs);

}  // namespace convoke::report
