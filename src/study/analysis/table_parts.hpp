#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "convoke/study/analysis/analysis.hpp"
#include "convoke/study/tables/text_table.hpp"

// What the tables of an analysis have in common.

namespace convoke::study {

using Row = std::vector<std::string>;

/// The cell's name, with its marks.
std::string label(const MeasuredCell& cell);

/// Of coordinates that may have no cell: a prediction.
std::string label(const Coordinates& at, const Analysis& analysis);

/// A quantity's mean and half its interval; "" where it was not measured.
std::string mean_of(const MeasuredCell& cell, std::string_view quantity, double factor = 1);

/// "4", "4 x 2" with threads; the mode where ranks are not said.
std::string ranks_text(const Coordinates& at);

/// What the cells of a curve, or of a table of portions, have in common.
template <class Family>
std::string title_of(const Family& family, double portion = 1) {
  return to_string(
      Coordinates{family.system, family.mode, 0, 1, portion, family.batch, family.variant, family.machine});
}

/// Adds the table without the columns in which nothing stands; none without rows.
void add(std::vector<TextTable>& all, TextTable table);

}  // namespace convoke::study
