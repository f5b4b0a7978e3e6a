#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/study/tables/measurement.hpp"

// Tables of times from any source: measurements, and published figures that were derived from them.

namespace convoke::study {

/// A number as printed in a table: 73.62 stands for any value from 73.615 to 73.625.
struct Printed {
  double value = 0;
  double half_unit = 0;  ///< half a unit of the last digit printed
};

/// Returns the digits after the point of a number that is printed with this half unit.
int digits_of(double half_unit);

/// A row: a run or a mean of runs, and every printed number in it by the name of the column:
/// "makespan_seconds", "epoch_seconds", ..., and derived ones (see kDerivedColumns).
struct TableRow {
  Measurement measurement;
  std::map<std::string, Printed, std::less<>> printed;
  std::string where;                  ///< "times.csv:7"
  std::filesystem::path folder = {};  ///< of the table, with the folders of a study's runs; "": no table
  std::size_t table = 0;              ///< index of the table among those that are analyzed as one

  /// Returns null if the column has no number.
  const Printed* find(std::string_view column) const;
};

struct PublishedTable {
  std::vector<TableRow> rows;
  std::vector<std::string> notices;  ///< unused columns: "times.csv: column "note" is not used"
};

/// Columns that are derived from measurements, or should be. Percentages are stored as printed, 0 to 100.
inline constexpr std::string_view kDerivedColumns[] = {
    "speedup",                  // times faster than the sequential run
    "efficiency",               // speed-up / devices
    "decrease_percent",         // decrease of training time against the sequential run
    "scaling_percent",          // T1 / (n Tn)
    "mean_over_ranks_seconds",  // mean of the ranks' times (the makespan is the maximum)
    "price_per_hour",           // of the resources used, any currency
    "cost_per_training",        // the same currency
    "cost_efficiency_percent",  // saving against the reference
};

/// Reads a table of times with the columns of measurements.csv or the synonyms that docs/formats.md lists
/// ("devices", "total_seconds", "accuracy_percent", ...). Columns of names ("framework", "application") are
/// joined as the system. Without a column of ranks their number is unknown. Throws Error as read_measurements
/// does; also if the table has nothing to analyze.
PublishedTable read_table(const std::filesystem::path& csv);

}  // namespace convoke::study
