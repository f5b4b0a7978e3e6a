#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/study/tables/measurement.hpp"

// Anybody's table of times: besides measurements, figures that were derived from them and published.

namespace convoke::study {

/// A number as a table has it: 73.62 stands for anything from 73.615 to 73.625.
struct Printed {
  double value = 0;
  double half_unit = 0;  ///< half a unit of the last digit printed
};

/// A row: a run or a mean of runs, and every number in it as it was printed, by the name of the column:
/// "makespan_seconds", "epoch_seconds", ..., and those that are derived (see kDerivedColumns).
struct TableRow {
  Measurement measurement;
  std::map<std::string, Printed, std::less<>> printed;
  std::string where;  ///< "times.csv:7"
};

struct PublishedTable {
  std::vector<TableRow> rows;
  std::vector<std::string> notices;  ///< columns that are not used: "times.csv: column "note" is not used"
};

/// Columns that are no measurements but follow from them, or are meant to. Percentages are as they are
/// written, 0 to 100.
inline constexpr std::string_view kDerivedColumns[] = {
    "speedup",                  // times faster than the sequential run
    "efficiency",               // speed-up by devices
    "decrease_percent",         // decrease of training time against the sequential run
    "scaling_percent",          // T1 / (n Tn)
    "mean_over_ranks_seconds",  // mean of the ranks' times, where the makespan is the slowest's
    "price_per_hour",           // of what was used, any currency
    "cost_per_training",        // the same currency
    "cost_efficiency_percent",  // what is saved against the reference
};

/// Reads a table of times with the columns of measurements.csv or the other names for them that
/// docs/formats.md lists ("devices", "total_seconds", "accuracy_percent", ...). Columns of names
/// ("framework", "application") together are the system. Without a column of ranks their number is not said.
/// Throws Error as read_measurements does; also if there is nothing to analyse in it.
PublishedTable read_table(const std::filesystem::path& csv);

}  // namespace convoke::study
