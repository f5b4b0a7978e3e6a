#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/recipe/recipe.hpp"
#include "convoke/study/running/study_file.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::study {

/// The runs of one configuration of a study.
struct Configuration {
  Coordinates at;
  std::string name;                  ///< used for its run folders: "mnist-sync-sync-2x1-p0.5"
  std::string recipe;                ///< an argument of `convoke train`
  std::vector<std::string> changes;  ///< arguments of --set
  std::uint64_t seed = 1;            ///< of the recipe
  std::int64_t epochs = 1;
  std::int64_t members = 1;  ///< of an ensemble
  std::string obstacle;      ///< why it cannot run; empty if it can

  /// Returns the number of ranks that run at once: for an emulated configuration, those of one member.
  std::int64_t ranks_at_once() const { return at.emulated ? at.ranks / members : at.ranks; }

  /// Returns the changes of run number `repeat` (from 1), which may have its own seed.
  std::vector<std::string> changes_of(const StudyFile& study, std::int64_t repeat) const;
};

/// Returns the configurations of a study in the order of its axes, each with a checked recipe. Throws Error
/// for a key or a value that the recipe refuses, for two equal configurations, and, naming all of them, for
/// configurations that cannot run; `leave_out` drops these instead, unless no configuration would be left.
std::vector<Configuration> planned_configurations(const StudyFile& study);

/// Returns the configurations that `leave_out` drops: "name: why".
std::vector<std::string> obstacles(const StudyFile& study);

/// Returns the index of the configuration to which a run belongs; empty for a configuration that the study no
/// longer has.
std::optional<std::size_t> find_configuration(std::span<const Configuration> configurations,
                                              const Measurement& run);

/// Returns the configuration with `allowed` that is probably fastest: with the fewest samples of all epochs
/// per worker. Null if there is none.
const Configuration* quickest(std::span<const Configuration> configurations,
                              const std::function<bool(const Configuration&)>& allowed);

/// Returns the numbers 0 .. count - 1 in the order of the configurations in round `round`: a shuffle keyed by
/// (seed, round), so that slow drifts affect all configurations equally.
std::vector<std::uint32_t> order_of_round(std::int64_t count, std::uint64_t seed, std::int64_t round);

}  // namespace convoke::study
