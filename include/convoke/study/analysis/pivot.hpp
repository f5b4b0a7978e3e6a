#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoke/study/analysis/analysis.hpp"

namespace convoke::study {

/// A coordinate and the value that a configuration must have there.
using Only = std::pair<std::string, std::string>;

/// Reads "mode=sync". Throws Error without a "=".
Only only_from(const std::string& text);

/// The shape of a table of configurations. A coordinate is "system", "mode", "ranks", "threads", "workers"
/// (ranks x threads), "fraction", "batch", "variant" or "machine".
struct PivotOptions {
  std::string rows = "ranks";  ///< the coordinate with a row for each value
  std::string columns = {};    ///< the coordinate with a group of columns for each value; "": one group
  /// Quantities: columns of measurements.csv, columns of the tables that are printed there and not measured
  /// ("cost_per_training"), or "speedup", "efficiency" and "decrease_percent".
  std::vector<std::string> show = {};
  std::vector<Only> only = {};  ///< empty: all configurations
};

/// Returns a table of the configurations of `analysis`, which is that of `tables`, with rows and columns by
/// their coordinates, as a page of results or a paper shows it: numbers in ascending order, other values in
/// that of the tables. A figure is a mean with half of its 95 % interval, and is followed by its marks; a
/// ratio has the ends of its interval. Throws Error for an unknown coordinate or quantity, for two
/// configurations in one place, and if nothing is left to show.
TextTable pivot(const Analysis& analysis, std::span<const PublishedTable> tables,
                const PivotOptions& options);

/// Returns the table in Markdown, without title and note.
std::string to_markdown(const TextTable& table);

}  // namespace convoke::study
