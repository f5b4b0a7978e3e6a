#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/recipe/recipe.hpp"
#include "convoke/study/running/study_file.hpp"
#include "convoke/study/tables/cells.hpp"

namespace convoke::study {

/// What is run in one cell of a study.
struct Configuration {
  Coordinates at;
  std::string name;                  ///< of its run folders: "mnist-sync-sync-2x1-p0.5"
  std::string recipe;                ///< as `convoke train` takes it
  std::vector<std::string> changes;  ///< as its --set takes them
  std::uint64_t seed = 1;            ///< of the recipe
  std::int64_t epochs = 1;
  std::string obstacle;  ///< why it cannot run; empty: it can

  /// The changes of its run number `repeat`, from 1, which may have a seed of its own.
  std::vector<std::string> changes_of(const StudyFile& study, std::int64_t repeat) const;
};

/// The cells of a study, in the order of its axes. Every one is a recipe that was read and checked. Throws
/// Error for a key or a value that the recipe refuses, two equal cells, and, naming all of them, cells that
/// cannot run; `leave_out` takes those out instead, unless none is left.
std::vector<Configuration> configurations(const StudyFile& study);

/// Those that `leave_out` takes out: "name: why".
std::vector<std::string> obstacles(const StudyFile& study);

/// Why `ranks` ranks with so many threads cannot train `recipe`: ranks for which a step has no lane. Empty if
/// they can.
std::string obstacle(const recipe::Recipe& recipe, std::int64_t ranks);

/// The number of the cell that a run is of; nothing for one of a cell that the study had once.
std::optional<std::size_t> find_cell(std::span<const Configuration> cells, const Measurement& run);

/// Of those cells for which `allowed` is true the one that is probably done first: of the fewest samples, in
/// all epochs, for a worker. Null if there is none.
const Configuration* quickest(std::span<const Configuration> cells,
                              const std::function<bool(const Configuration&)>& allowed);

/// The numbers 0 .. count - 1 in the order in which cells take their turns in round `round`: a shuffle keyed
/// by (seed, round), so that what drifts over hours falls on all cells alike.
std::vector<std::uint32_t> order_of_round(std::int64_t count, std::uint64_t seed, std::int64_t round);

}  // namespace convoke::study
