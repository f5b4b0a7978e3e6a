#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"

namespace convoke::report {

/// Worker threads of all ranks of a run, and the physical cores that they had.
struct Workers {
  std::int64_t threads = 0, cores = 0;

  bool oversubscribed() const { return threads > cores; }
};

/// A run as its folder keeps it, from which pages are drawn; docs/formats.md says what is in the files. What
/// a run that is under way, or of an earlier version, does not have is empty.
struct RunRecord {
  std::filesystem::path folder;
  std::string recipe_text;  ///< recipe.toml
  Settings recipe;          ///< the same as settings, by whoever can read TOML; read_run leaves it empty
  Settings environment, summary, evaluation, status;
  std::vector<Settings> log;  ///< the lines of metrics.jsonl

  /// "mnist-sync"; the folder's name where nothing says it.
  std::string name() const;
  bool complete() const { return !summary.empty(); }
  /// Of one that is not complete, or of an earlier version, as far as the cores of its nodes tell.
  Workers workers() const;
};

/// Throws Error if `folder` is no folder of a run, or naming a file in it that is damaged.
RunRecord read_run(const std::filesystem::path& folder);

}  // namespace convoke::report
