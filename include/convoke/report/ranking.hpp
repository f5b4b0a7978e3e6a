#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/comparison.hpp"
#include "convoke/report/run_record.hpp"
#include "convoke/report/table.hpp"

namespace convoke::report {

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
  std::vector<std::string> warnings;  ///< why the ranks may be meaningless
};

inline constexpr const char* kRankedByValidation =
    "Ranked by validation accuracy. Select a run by it; report the test accuracy only of the run that "
    "you selected.";

/// Ranks the runs, the best first; runs without a validation come last and have no rank. `recipes` are in the
/// order of `runs`. Keys in which the recipes differ are columns if they are few; otherwise see
/// differences(). No rows if no run has validations.
Ranking ranked(std::span<const RunResult> runs, std::span<const NamedKeys> recipes);

}  // namespace convoke::report
