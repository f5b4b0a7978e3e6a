#pragma once
#include <span>
#include <string>

#include "convoke/study/tables/cells.hpp"

namespace convoke::report {

/// What cells and curves of a study are called in charts, where there is little room: by what tells them
/// apart. A mode that follows from the system is not said.
class ShortNames {
 public:
  explicit ShortNames(std::span<const study::MeasuredCell> cells);

  /// "mnist-sync, 4 ranks, 1/2".
  std::string cell(const study::Coordinates& at) const;
  /// The same; "! mnist-sync, 4 ranks" of one that bears a mark, as it must not be taken for the others.
  std::string cell(const study::MeasuredCell& cell) const {
    return (cell.marks.empty() ? "" : "! ") + this->cell(cell.at);
  }
  /// Of cells that differ in ranks and threads: "mnist-sync, 1/2".
  std::string curve(const study::Coordinates& at) const;

 private:
  bool systems_ = false, modes_ = false, batches_ = false, variants_ = false, portions_ = false,
       threads_ = false, machines_ = false;
};

}  // namespace convoke::report
