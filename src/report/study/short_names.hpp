#pragma once
#include <span>
#include <string>

#include "convoke/study/tables/cells.hpp"

namespace convoke::report {

/// Short names of a study's cells and curves for charts: the coordinates in which they differ. A mode that
/// follows from the system is left out.
class ShortNames {
 public:
  explicit ShortNames(std::span<const study::MeasuredCell> cells);

  /// "mnist-sync, 4 ranks, 1/2".
  std::string cell(const study::Coordinates& at) const;
  /// The same; with "! " before the name of a marked cell, which must not be mistaken for the others.
  std::string cell(const study::MeasuredCell& cell) const {
    return (cell.marks.empty() ? "" : "! ") + this->cell(cell.at);
  }
  /// Without ranks and threads: "mnist-sync, 1/2".
  std::string curve(const study::Coordinates& at) const;

 private:
  bool systems_ = false, modes_ = false, batches_ = false, variants_ = false, portions_ = false,
       threads_ = false, machines_ = false;
};

}  // namespace convoke::report
