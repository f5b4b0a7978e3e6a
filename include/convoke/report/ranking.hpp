#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/comparison.hpp"
#include "convoke/report/run_record.hpp"
#include "convoke/report/table.hpp"

namespace convoke::report {

/// What is known of a run by name: the keys of its recipe, or facts of its machine.
struct NamedKeys {
  std::string name;  ///< of the run
  std::map<std::string, std::string> keys;
};

/// Every key of a run's recipe by its path, "train.batch"; lists stand as a whole. Without its description.
std::map<std::string, std::string> recipe_keys(const RunRecord& run);

/// The keys in which not all are alike: a line for each, a column for each run; `what`
/// heads the keys. A run of which no key is known differs in none. Long texts are shortened to where they
/// differ.
Table differences(const std::string& what, std::span<const NamedKeys> runs);

/// Runs by their validation accuracy.
struct Ranking {
  Table table;                        ///< place, run, keys, validation and test accuracy, makespan
  std::vector<std::string> warnings;  ///< why the places may mean nothing
};

inline constexpr const char* kRankedByValidation =
    "Ranked by validation accuracy. Select a run by it; the test accuracy is for the report of the run that "
    "was selected.";

/// The best first, those without a validation last and without a place; `recipes` as `runs`. The keys in
/// which the recipes differ are columns, as long as they are few; otherwise see differences(). No rows if no
/// run has validated.
Ranking ranked(std::span<const RunResult> runs, std::span<const NamedKeys> recipes);

}  // namespace convoke::report
