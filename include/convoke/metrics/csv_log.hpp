#pragma once
#include <filesystem>
#include <span>
#include <string_view>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/growing_file.hpp"

namespace convoke::metrics {

/// metrics.csv: the measurements during training, a line for each record, for spreadsheets and data frames.
class CsvLog {
 public:
  /// The columns: keys of records.
  static std::span<const std::string_view> columns();

  /// Opens `file` to append, like RunLog; a new file begins with the names of the columns. Throws Error
  /// naming the file, also if it has other columns.
  explicit CsvLog(const std::filesystem::path& file);

  /// Appends a line with the numbers of the record; missing ones are empty. A record without a loss is
  /// ignored. Throws Error naming the file if the line could not be written completely.
  void append(const Settings& record);

 private:
  bool is_new_;
  GrowingFile file_;
};

}  // namespace convoke::metrics
