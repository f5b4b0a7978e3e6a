#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/cells.hpp"
#include "convoke/study/tables/text_table.hpp"

namespace convoke::study {

/// A cell of two studies.
struct ReplicatedCell {
  Coordinates at;
  Statistics first, second;  ///< of the makespan
  Ratio change;              ///< mean of the second / mean of the first
  bool covered = false;      ///< the second mean lies in the first's 95 % interval
  double chance = 0;         ///< that it does, were both runs of the same thing
  std::vector<std::string> marks;
};

/// A study that was made once more, by others or on another day: what artifact evaluation asks for.
struct Replication {
  std::vector<ReplicatedCell> cells;
  std::vector<Coordinates> left_out;  ///< in one of the two alone, or of a single run in the first

  std::int64_t covered() const;
  double expected() const;  ///< of them, were both studies of the same thing: the sum of the chances
};

/// Cells of both studies that have makespans. A 95 % interval of a mean holds the mean of a second study less
/// often than 95 %, since that scatters too: of n runs and m runs of equal variance when
/// |T| < t sqrt(1 / (1 + n / m)), T and its quantile t with n - 1 degrees of freedom.
Replication replication(std::span<const MeasuredCell> first, std::span<const MeasuredCell> second);

TextTable table_of(const Replication& replication);
std::string sentence(const Replication& replication);

}  // namespace convoke::study
