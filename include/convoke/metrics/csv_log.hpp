#pragma once
#include <filesystem>
#include <span>
#include <string_view>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/growing_file.hpp"

namespace convoke::metrics {

/// metrics.csv: what is measured as training goes, a line for each record, for spreadsheets and data frames.
class CsvLog {
 public:
  /// The columns: keys of records.
  static std::span<const std::string_view> columns();

  /// Opens `file` to append, as RunLog does; a new one begins with the names of the columns. Throws Error
  /// naming the file, also where it has other columns.
  explicit CsvLog(const std::filesystem::path& file);

  /// A line with the numbers that the record has, the others empty. Nothing of a record without a loss.
  /// Throws Error naming the file if not all of the line could be written.
  void append(const Settings& record);

 private:
  bool is_new_;
  GrowingFile file_;
};

}  // namespace convoke::metrics
