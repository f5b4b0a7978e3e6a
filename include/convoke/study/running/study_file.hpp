#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"

namespace convoke::study {

/// Who trains together. "sync", "ensemble", or "4x2": 4 members of 2 ranks each, which says its ranks itself.
struct Mode {
  std::string name = "sync";                   ///< sync | ensemble | groups
  std::int64_t members = 0, member_ranks = 0;  ///< of groups
  bool operator==(const Mode&) const = default;
};

/// Any recipe key, and the values that it takes in turn.
struct Axis {
  std::string key;
  std::vector<std::string> values;  ///< as --set takes them
};

/// A study as it is written, docs/formats.md: the axes whose product are its cells, and how they are
/// measured.
struct StudyFile {
  std::string name;
  std::vector<std::string> recipes;
  std::vector<std::int64_t> ranks{1}, threads{1};
  std::vector<Mode> modes;                     ///< empty: that of the recipe
  std::vector<double> portions;                ///< empty: that of the recipe
  std::vector<std::string> batches{"strong"};  ///< strong: the same in all cells; weak: for each rank
  std::vector<std::string> set;                ///< "train.epochs=2", of all cells
  std::vector<Axis> axes;

  std::int64_t repeats = 10, at_most = 30;  ///< runs of a cell: so many, then more until the target
  double target = 0.05;                     ///< relative half width of the 95 % interval of the makespan
  double budget_seconds = 0;                ///< for all of it; 0: no limit
  std::int64_t warm_up = 1;                 ///< runs of each recipe before the first that counts
  std::uint64_t seed = 1;                   ///< of the order of the cells
  bool new_seeds = true;                    ///< repeat r trains with the recipe's seed + r - 1
  double disturbed_above = 0.1;             ///< spin loops so much slower than calibrated: disturbed
  bool keep_models = false;                 ///< checkpoints and models of the runs
  bool leave_out = false;                   ///< cells that cannot run; else they are refused

  /// Throws Error naming file and line: an unknown key with the nearest known, a value out of range.
  static StudyFile load(const std::filesystem::path& file);
  /// The same of a text; `source` names it. Recipes are looked for from the working directory, then from the
  /// folder of `source`.
  static StudyFile parse(const std::string& toml, const std::string& source);

  /// Every key with its value, defaults included.
  Settings settings() const;
  /// settings() as TOML; parses back to the same study.
  std::string to_toml() const;
};

}  // namespace convoke::study
