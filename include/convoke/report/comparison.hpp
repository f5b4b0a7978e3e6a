#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/run_record.hpp"
#include "convoke/report/table.hpp"

namespace convoke::report {

/// What a comparison takes from a finished run.
struct RunResult {
  std::string folder;
  std::string name;  ///< what it is called beside the others
  bool ensemble = false;
  std::string provenance;           ///< of its samples
  std::string content_hash, split;  ///< of the samples that it was tested on; empty: nobody knows
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

/// Of a run that is complete; called by its title. Throws Error naming its summary.json if a number is
/// missing.
RunResult result_of(const RunRecord& run);

/// What runs are called beside each other: by `titles`, if these tell them apart, else with the names of
/// their folders, else with a number.
std::vector<std::string> names_apart(std::vector<std::string> titles, std::span<const std::string> folders);

/// A line for each thing that is compared, a column for each run; the speed-up is over the first.
Table side_by_side(std::span<const RunResult> runs);

/// Sentences that say which of two runs did better, and of those that could not be judged, why.
struct Judgement {
  std::vector<std::string> verdicts, unjudged;
};

/// Of each ensemble beside each synchronous run on as many cores that was tested on the same samples: which
/// did better, and whether the samples are enough to tell. The more accurate one is the better one only if it
/// costs no more, within 5 %. What nobody knows of the samples is taken for the same.
Judgement judge(std::span<const RunResult> runs);

/// Whether all were tested on the same samples, as far as is known.
bool tested_alike(std::span<const RunResult> runs);

}  // namespace convoke::report
