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

/// The contents of a run folder, from which pages are made; docs/formats.md describes the files. Whatever a
/// run that is under way does not have yet is empty.
struct RunRecord {
  std::filesystem::path folder;
  std::string recipe_text;  ///< recipe.toml
  Settings recipe;          ///< the same as settings, for a caller that reads TOML; read_run leaves it empty
  Settings environment, summary, evaluation, status;
  std::vector<Settings> log;  ///< the lines of metrics.jsonl

  /// "mnist-sync"; the name of the folder if the files do not give one.
  std::string name() const;
  bool complete() const { return !summary.empty(); }
  /// For a run that is not complete, estimated from the cores of its nodes.
  Workers workers() const;
};

/// Throws Error if `folder` is not a run folder, or naming a damaged file in it.
RunRecord read_run(const std::filesystem::path& folder);

/// The page of a run: results and costs, curves, members, classes, calibration, worst mistakes (as pictures,
/// if the dataset is still at its place), times, environment, recipe. The page of an incomplete run shows
/// what there is, with a warning. `made_by`: a line on how the page was made.
Page run_page(const RunRecord& run, const std::string& made_by);

}  // namespace convoke::report
