#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/report/chart.hpp"

namespace convoke::report {

/// A matrix that is too large for a table, as colored cells. Pages show it on a canvas that zooms by mouse,
/// touch and keyboard, and names the cell under the cursor; papers show all of it.
struct HeatMap {
  /// A cell that is not 0.
  struct Cell {
    std::size_t row, column;
    double value;
    double shade;  ///< strength of its color in [-1, 1]: positive blue, negative orange
  };

  std::string title;
  std::string note = {};                             ///< what the cells show
  std::string row_title;                             ///< "true class"
  std::string column_title;                          ///< "predicted"
  std::string unit = {};                             ///< of the values: "samples"
  std::vector<std::string> rows = {}, columns = {};  ///< their names
  std::vector<Cell> cells = {};                      ///< sorted by row, then column, without duplicates

  /// Returns `<figure class=heat>` with an empty canvas and buttons; heat_maps.js draws it.
  std::string html() const;
  /// Returns the numbers for heat_maps.js.
  Settings settings() const;
  /// Returns the cells, one in each row: row, column, value.
  Table table() const;
};

}  // namespace convoke::report
