#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"

namespace convoke::study {

/// The mode of training: "sync", "ensemble", or groups such as "4x2": 4 members of 2 ranks each, which
/// determines the ranks; "emulated ensemble" and "emulated 4x2" train the members one after another, each
/// alone.
struct Mode {
  std::string name = "sync";                   ///< sync | ensemble | groups
  std::int64_t members = 0, member_ranks = 0;  ///< of groups
  bool emulated = false;
  bool operator==(const Mode&) const = default;
};

/// A recipe key and its values.
struct Axis {
  std::string key;
  std::vector<std::string> values;  ///< arguments of --set
};

/// The content of a study file (docs/formats.md): axes, whose product is the configurations, and the rules of
/// measurement.
struct StudyFile {
  std::string name;
  std::vector<std::string> recipes;
  std::vector<std::int64_t> ranks{1}, threads{1};
  std::vector<Mode> modes;                     ///< empty: the recipe's
  std::vector<double> fractions;               ///< empty: the recipe's
  std::vector<std::string> batches{"strong"};  ///< strong: the same batch in each; weak: for each rank
  std::vector<std::string> set;                ///< changes of all configurations, e.g. "train.epochs=2"
  std::vector<Axis> axes;
  std::vector<std::string> columns;  ///< further numbers of summary.json to record, by their names with dots

  std::int64_t repeats = 10, at_most = 30;  ///< runs of each: `repeats`, then more until the target
  double target = 0.05;                     ///< relative half width of the 95 % interval of the makespan
  double budget_seconds = 0;                ///< for the whole study; 0: no limit
  std::int64_t warm_up = 1;                 ///< runs of each recipe before the counted ones
  std::uint64_t seed = 1;                   ///< for the order of the configurations
  bool new_seeds = true;                    ///< repeat r trains with the recipe's seed + r - 1
  double contended_above = 0.1;             ///< a run is contended if spin loops are slower by this fraction
  bool keep_models = false;                 ///< keep checkpoints and models of the runs
  bool leave_out = false;                   ///< drop those that cannot run; otherwise refuse the study

  /// Throws Error naming file and line for an unknown key (with the nearest known one) or a value out of
  /// range.
  static StudyFile load(const std::filesystem::path& file);
  /// Parses a text; `source` names it in messages. Recipes are searched in the working directory, then in the
  /// folder of `source`.
  static StudyFile parse(const std::string& toml, const std::string& source);

  /// Returns every key with its value, including defaults.
  Settings settings() const;
  /// Returns settings() as TOML, which parses back to the same study.
  std::string to_toml() const;
};

}  // namespace convoke::study
