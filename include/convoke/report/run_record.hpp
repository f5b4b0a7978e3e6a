#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"

namespace convoke::report {

class Page;

/// Worker threads of all ranks of a run, and the physical cores that they ran on.
struct Workers {
  std::int64_t threads = 0, cores = 0;

  bool oversubscribed() const { return threads > cores; }
};

/// The contents of a run folder, from which pages are made; docs/formats.md describes the files. Parts that
/// an unfinished run does not have yet are empty.
struct RunRecord {
  std::filesystem::path folder;
  std::string recipe_text;  ///< recipe.toml
  Settings recipe;  ///< recipe_text as settings; read_run leaves it empty for a caller that parses TOML
  Settings environment, summary, evaluation, status;
  std::vector<Settings> log;  ///< the lines of metrics.jsonl

  /// Returns "mnist-sync"; the name of the folder if the files have no name.
  std::string name() const;
  bool complete() const { return !summary.empty(); }
  /// The workers; for an incomplete run, the cores are estimated from those of its nodes.
  Workers workers() const;
};

/// Throws Error if `folder` is not a run folder, or naming a damaged file in it.
RunRecord read_run(const std::filesystem::path& folder);

/// Returns the page of a run: results and costs, curves, members, classes, calibration, worst mistakes (as
/// pictures, if the dataset is still at its path), times, environment, recipe. The page of an incomplete run
/// shows the existing parts, with a warning. `made_by`: a line about the origin of the page.
Page run_page(const RunRecord& run, const std::string& made_by);

}  // namespace convoke::report
