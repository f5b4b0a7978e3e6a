#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"

namespace convoke::study {

/// A table of results for a terminal, a page or a paper.
struct TextTable {
  std::string title;
  std::string note;  ///< the meaning and computation of the columns; may be empty
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows = {};  ///< each as long as `columns`; "" for no value
};

/// Returns the table with aligned columns, title and note, for a terminal.
std::string to_text(const TextTable& table);

/// Returns rows of texts as lines with aligned columns: the first `left` to the left, the others to the
/// right.
std::string aligned(std::span<const std::vector<std::string>> rows, std::size_t left = 1);

/// Returns a number for a table: five significant digits.
std::string number(double value);

/// Returns the mean and half its interval with the same digits, "10.05 ± 0.21"; both multiplied by `factor`.
std::string with_error(double value, const std::optional<Interval>& interval, double factor = 1);

/// Returns "1.80 (1.74 to 1.88)", because an interval need not be symmetric.
std::string with_ends(double value, const std::optional<Interval>& interval, int digits);
std::string with_ends(const std::optional<Estimate>& estimate, int digits);

}  // namespace convoke::study
