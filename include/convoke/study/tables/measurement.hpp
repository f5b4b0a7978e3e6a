#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoke::study {

/// One run: its coordinates and measured values; a line of measurements.csv (docs/formats.md has the
/// columns). Values that were not measured are absent, never 0.
struct Measurement {
  std::string system;        ///< what was trained: the recipe's name, or another label
  std::string mode;          ///< "sync", "ensemble", "groups", or another word
  std::int64_t ranks = 1;    ///< 0: unknown (tables of other programs)
  std::int64_t threads = 1;  ///< of each rank
  double fraction = 1;       ///< of the training samples, (0, 1]
  std::string batch;         ///< "strong" (the same batch in all), "weak" (the same for each rank), or ""
  std::string variant;  ///< further changes as for --set, "train.micro_batch=8 train.precision=bf16"; or ""
  std::int64_t repeat = 1;  ///< from 1
  std::optional<double> makespan_seconds;
  std::optional<double> epoch_seconds;  ///< training one epoch, without evaluation
  std::optional<double> images_per_second;
  std::optional<double> accuracy;           ///< of the test samples, [0, 1]
  std::optional<double> training_accuracy;  ///< of the last epoch, mean over the members, as Keras prints it
  std::optional<double> validation_accuracy;  ///< of the trained model, mean over the members
  std::optional<double> f1;                   ///< of the test samples, weighted by the sizes of classes
  std::optional<double> quadratic_kappa;      ///< of the test samples, [-1, 1]
  std::optional<double> roc_auc;              ///< of the test samples
  std::optional<double> test_seconds;         ///< computing the labels of all test samples
  std::optional<double> core_seconds;
  std::optional<double> joules;
  std::optional<double> compute_seconds, communication_seconds, load_seconds, evaluation_seconds,
      gather_seconds;  ///< phases, the mean over the ranks
  /// Time of the command outside the makespan: start and end of the MPI ranks.
  std::optional<double> launch_seconds;
  std::int64_t epochs = 0;   ///< that were trained; 0: unknown
  std::string dataset_hash;  ///< of the training and test data, "crc32:13a47ca1"; or ""
  std::string machine;       ///< processor, cores and kind of memory of its nodes; "" if unknown
  std::string started;       ///< ISO 8601
  /// Why the figures are not reliable: "oversubscribed", "contended", "bindings differ", "failed"; or how
  /// they were made: "emulated" (members trained one after another), "predicted" (nothing was measured).
  std::vector<std::string> marks;
  /// Further numbers of the run's summary.json by their names with dots, "phases.data.mean".
  std::map<std::string, double, std::less<>> further;

  bool has_mark(std::string_view mark) const;
  bool operator==(const Measurement&) const = default;
};

/// Reads a table of measurements; missing columns have their defaults. Throws Error naming file, line and
/// column if there is no column of ranks, a cell is not a number or out of range (0 ranks), an unknown column
/// nearly has the name of a known one, or a row has another length.
std::vector<Measurement> read_measurements(const std::filesystem::path& csv);

/// Writes the whole table, atomically. Further numbers have columns called "summary.phases.data.mean".
void write_measurements(const std::filesystem::path& csv, std::span<const Measurement> measurements);

/// Appends one line, after a header if the file is new, and syncs it to disk: a killed study loses no
/// finished run. Adds columns for further numbers that the table lacks. Removes an incomplete last line left
/// by a crash first. One writer at a time.
void append_measurement(const std::filesystem::path& csv, const Measurement& measurement);

// Tables of times from any source: measurements, and published figures that were derived from them.

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
