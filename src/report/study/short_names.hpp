#pragma once
#include <span>
#include <string>

#include "convoke/study/tables/cells.hpp"

namespace convoke::report {

/// Returns short names of a study's cells and curves for charts: the coordinates in which they differ. A mode
/// that follows from the system is omitted.
class ShortNames {
 public:
  explicit ShortNames(std::span<const study::MeasuredCell> cells);

  /// Returns "mnist-sync, 4 ranks, 1/2".
  std::string cell(const study::Coordinates& at) const;
  /// Returns the short name, with "! " before the name of a marked cell, so that readers can distinguish it.
  std::string cell(const study::MeasuredCell& cell) const {
    return (cell.marks.empty() ? "" : "! ") + this->cell(cell.at);
  }
  /// Returns the name without ranks and threads: "mnist-sync, 1/2".
  std::string curve(const study::Coordinates& at) const;

 private:
  bool systems_ = false, modes_ = false, batches_ = false, variants_ = false, fractions_ = false,
       threads_ = false, machines_ = false;
};

}  // namespace convoke::report
