#include "convoke/study/tables/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/atomic_file.hpp"
#include "study/tables/columns.hpp"

namespace convoke::study {
namespace {

using Names = std::set<std::string>;  // of further numbers

std::string header_line(const Names& further) {
  std::vector<std::string> names = names_in(measurement_columns());
  for (const std::string& name : further) names.push_back(std::string(kFurtherPrefix) + name);
  return csv_line(names) + "\n";
}

std::string line_of(const Measurement& measurement, const Names& further) {
  std::vector<std::string> cells;
  for (const Column& column : measurement_columns()) cells.push_back(column.write(measurement));
  for (const std::string& name : further) {
    const auto number = measurement.further.find(name);
    cells.push_back(number == measurement.further.end() ? "" : fmt::format("{}", number->second));
  }
  return csv_line(cells) + "\n";
}

Names further_names(std::span<const Measurement> measurements) {
  Names names;
  for (const Measurement& measurement : measurements) {
    for (const auto& [name, number] : measurement.further) names.insert(name);
  }
  return names;
}

// Returns the further numbers that have columns in a file with this header; names have no quotes or commas.
Names further_names(const std::string& header) {
  Names names;
  std::istringstream in(header);
  for (std::string name; std::getline(in, name, ',');) {
    if (name.starts_with(kFurtherPrefix)) names.insert(name.substr(kFurtherPrefix.size()));
  }
  return names;
}

}  // namespace

bool Measurement::has_mark(std::string_view mark) const {
  return std::find(marks.begin(), marks.end(), mark) != marks.end();
}

void write_measurements(const std::filesystem::path& csv, std::span<const Measurement> measurements) {
  const Names further = further_names(measurements);
  std::string text = header_line(further);
  for (const Measurement& measurement : measurements) text += line_of(measurement, further);
  os::replace_text(csv, text);
}

// The table is small: it is rewritten under another name, so that it is complete after any crash.
void append_measurement(const std::filesystem::path& csv, const Measurement& measurement) {
  const std::optional<std::string> before = read_text(csv);
  if (!before && std::filesystem::exists(csv)) {
    throw Error(fmt::format("{}: cannot be read, and is not overwritten", csv.string()));
  }
  std::string text = before.value_or("");
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  const Names own = further_names(std::span(&measurement, 1));
  const Names further = text.empty() ? own : further_names(text.substr(0, text.find('\n')));
  const bool fits = text.starts_with(header_line(further)) && std::ranges::includes(further, own);
  if (!text.empty() && !fits) {  // a file with other columns, also of another version
    os::replace_text(csv, text);
    std::vector<Measurement> all = read_measurements(csv);
    all.push_back(measurement);
    return write_measurements(csv, all);
  }
  if (text.empty()) text = header_line(further);
  os::replace_text(csv, text + line_of(measurement, further));
}

}  // namespace convoke::study
