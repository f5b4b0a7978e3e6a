#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/chart.hpp"
#include "convoke/report/page.hpp"
#include "convoke/report/run_record.hpp"

namespace convoke::report {

/// The results of a finished run that a comparison uses.
struct RunResult {
  std::string folder;
  std::string name;  ///< name in the comparison
  bool ensemble = false;
  bool resumed = false;         ///< the costs are only those since it was resumed, so they are not compared
  std::string one_member = {};  ///< RunRecord::one_member()
  std::string provenance;       ///< source of its samples
  std::string content_hash, split;  ///< of its test samples; empty if unknown
  std::int64_t ranks = 0, threads = 0, members = 0, samples = 0;
  std::int64_t missing = 0;  ///< members that left the vote
  Workers workers;
  std::optional<double> validation_accuracy = {};  ///< [0, 1], on the held-out samples; mean over the members
  double accuracy = 0, precision = 0, recall = 0, f1 = 0;
  double makespan = 0, core_seconds = 0, images_per_second = 0;
  std::optional<double> other_programs = {};  ///< their share of the cores; unknown for older runs

  /// Returns "synchronous, 2 x 1", "ensemble of 2, 2 x 1" or "member 0 of an ensemble of 2, 2 x 1"; with a
  /// mark if members failed or threads shared cores.
  std::string title() const;
};

/// Returns the results of a complete run, named by its title. Throws Error naming its summary.json if a
/// number is missing.
RunResult result_of(const RunRecord& run);

/// Returns distinct names of runs: `titles` if they differ, otherwise with the names of their folders,
/// otherwise with a number.
std::vector<std::string> names_apart(std::vector<std::string> titles, std::span<const std::string> folders);

/// Returns a table with one row per result and one column per run; speed-ups are relative to the first run.
/// Costs of resumed runs are left out.
Table side_by_side(std::span<const RunResult> runs);

/// Sentences: which of two runs is better, and why other pairs cannot be compared.
struct RunComparison {
  std::vector<std::string> verdicts, not_compared;
};

/// Compares each ensemble with each synchronous run on equally many cores that was tested on the same
/// samples: which is better, and whether the number of samples is large enough to decide. The more accurate
/// run is better only if its cost is not higher, within 5 %. Unknown properties of the samples count as
/// equal. A resumed run, and one member of an ensemble, are not compared.
RunComparison compare_runs(std::span<const RunResult> runs);

/// Returns true if all were tested on the same samples, as far as known.
bool tested_alike(std::span<const RunResult> runs);

/// Properties of a run by name: the keys of its recipe, or facts of its machine.
struct NamedKeys {
  std::string name;  ///< of the run
  std::map<std::string, std::string> keys;
};

/// Returns every key of a run's recipe by its path, "train.batch", without the description. A list is one
/// value.
std::map<std::string, std::string> recipe_keys(const RunRecord& run);

/// Returns the keys in which the runs differ: a line for each key, a column for each run; `what` is the
/// header of the keys. A run without known keys is ignored. Long texts are shortened to the part where they
/// differ.
Table differences(const std::string& what, std::span<const NamedKeys> runs);

/// Runs ordered by their validation accuracy.
struct Ranking {
  Table table;                        ///< rank, run, keys, validation and test accuracy, makespan
  std::string note;                   ///< what the ranks or the results are for; may be empty
  std::vector<std::string> warnings;  ///< why the ranks may be meaningless
};

/// Ranks the runs, the best first; runs without a validation come last and have no rank. `recipes` are in the
/// order of `runs`. Keys in which the recipes differ are columns if they are few; otherwise see
/// differences(). No rows if no run has validations. The folds of a cross-validation are runs on different
/// datasets whose recipes differ in no key but data.path and name. None of them is to be selected: then the
/// note has the mean and the standard deviation (divisor n - 1) of their test scores.
Ranking ranked(std::span<const RunResult> runs, std::span<const NamedKeys> recipes);

/// Returns a page about two or more runs: their results side by side, curves in common charts, speed-up and
/// efficiency relative to the first run, and the differences of their recipes and machines. Incomplete runs
/// appear only in the curves, and resumed runs have no times, with a warning. `made_by`: a line about the
/// origin of the page.
Page comparison_page(std::span<const RunRecord> runs, const std::string& made_by);

}  // namespace convoke::report
