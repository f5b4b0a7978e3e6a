#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/report/picture.hpp"

namespace convoke::report {

class Page;

/// Worker threads of all ranks of a run, and the physical cores that they ran on.
struct Workers {
  std::int64_t threads = 0, cores = 0;

  bool oversubscribed() const { return threads > cores; }
};

/// Where the network looked in a misclassified picture.
struct MistakeMaps {
  Overlay predicted, truth;  ///< the places that speak for the predicted and for the true class
};

/// A misclassified sample of the test, one of the worst.
struct WorstMistake {
  std::int64_t sample = 0;                ///< position in the split
  std::int64_t truth = 0, decision = -1;  ///< true class, and class by the rule of the run; -1: not known
  Settings details;                       ///< its entry in evaluation.json
};

/// The contents of a run folder, from which pages are made; docs/formats.md describes the files. Parts that
/// an unfinished run does not have yet are empty.
struct RunRecord {
  std::filesystem::path folder;
  std::string recipe_text;  ///< recipe.toml
  Settings recipe;  ///< recipe_text as settings; read_run leaves it empty for a caller that parses TOML
  Settings environment, summary, evaluation, status;
  std::vector<Settings> log;  ///< the lines of metrics.jsonl
  /// By sample of worst_mistakes(); read_run leaves it empty for a caller that runs the network.
  std::map<std::int64_t, MistakeMaps> maps = {};
  std::string mapped_node = {};  ///< the node whose output the maps are made of

  /// Returns "mnist-sync"; the name of the folder if the files have no name.
  std::string name() const;
  bool complete() const { return !summary.empty(); }
  /// Returns "member 2 of an ensemble of 4" if the run has one member of several; "" otherwise.
  std::string one_member() const;
  /// True if the times are only those since the run was resumed.
  bool resumed() const;
  /// The workers; for an incomplete run, the cores are estimated from those of its nodes.
  Workers workers() const;
};

/// Throws Error if `folder` is not a run folder, or naming a damaged file in it.
RunRecord read_run(const std::filesystem::path& folder);

/// Returns the mistakes that the page of the run shows, worst first.
std::vector<WorstMistake> worst_mistakes(const RunRecord& run);

/// Returns the page of a run: results and costs, curves, members, classes, calibration, worst mistakes (as
/// pictures, if the dataset is still at its path), times, environment, recipe. The page of an incomplete run
/// shows the existing parts, with a warning. `made_by`: a line about the origin of the page.
Page run_page(const RunRecord& run, const std::string& made_by);

}  // namespace convoke::report
