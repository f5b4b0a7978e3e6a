#pragma once
#include <optional>
#include <string>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"

namespace convoke::study {

/// A table of findings as it is read: in a terminal, on a page, in a paper.
struct TextTable {
  std::string title;
  std::string note;  ///< what the columns mean and how they were computed; may be empty
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`; "" where there is nothing
};

/// The table with aligned columns, title and note, for a terminal.
std::string to_text(const TextTable& table);

/// A number that is read beside others: five digits that count.
std::string number(double value);

/// The mean and half its interval with the same digits, "10.05 ± 0.21"; both times `factor`.
std::string with_error(double value, const std::optional<Interval>& interval, double factor = 1);

/// "1.80 (1.74 to 1.88)": an interval need not be symmetric.
std::string with_ends(double value, const std::optional<Interval>& interval, int digits);
std::string with_ends(const std::optional<Ratio>& ratio, int digits);

}  // namespace convoke::study
