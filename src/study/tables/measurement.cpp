#include "convoke/study/tables/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/atomic_file.hpp"
#include "study/tables/columns.hpp"

namespace convoke::study {
namespace {

std::string header_line() {
  std::vector<std::string> names;
  for (const Column& column : measurement_columns()) names.emplace_back(column.name);
  return csv_line(names) + "\n";
}

std::string line_of(const Measurement& measurement) {
  std::vector<std::string> cells;
  for (const Column& column : measurement_columns()) cells.push_back(column.write(measurement));
  return csv_line(cells) + "\n";
}

}  // namespace

bool Measurement::has_mark(std::string_view mark) const {
  return std::find(marks.begin(), marks.end(), mark) != marks.end();
}

void write_measurements(const std::filesystem::path& csv, std::span<const Measurement> measurements) {
  std::string text = header_line();
  for (const Measurement& measurement : measurements) text += line_of(measurement);
  os::replace_text(csv, text);
}

// The table is small: it is rewritten under another name, so that it is complete after any crash.
void append_measurement(const std::filesystem::path& csv, const Measurement& measurement) {
  const std::optional<std::string> before = read_text(csv);
  if (!before && std::filesystem::exists(csv)) {
    throw Error(fmt::format("{}: cannot be read, and is not overwritten", csv.string()));
  }
  std::string text = before.value_or("");
  text.resize(text.rfind('\n') + 1);                        // npos + 1 is 0
  if (!text.empty() && !text.starts_with(header_line())) {  // a file of a version with other columns
    os::replace_text(csv, text);
    std::vector<Measurement> all = read_measurements(csv);
    all.push_back(measurement);
    return write_measurements(csv, all);
  }
  if (text.empty()) text = header_line();
  os::replace_text(csv, text + line_of(measurement));
}

}  // namespace convoke::study
