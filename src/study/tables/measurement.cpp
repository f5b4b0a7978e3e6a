#include "convoke/study/tables/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <sstream>
#include <utility>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/study/tables/measured_configuration.hpp"
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

// Columns that may occur several times: columns of names are joined.
bool holds_names(const std::string& column) {
  return column == "system" || column == "mode" || column == "variant" || column == "machine";
}

struct Header {
  std::vector<std::string> names;
  std::vector<ColumnRole> roles;

  bool has(std::string_view column) const {
    return std::ranges::any_of(roles, [&](const ColumnRole& r) { return r.column == column; });
  }
};

Header read_header(CsvReader& reader, PublishedTable& table) {
  CsvRow row;
  if (!reader.next(row)) throw Error(fmt::format("{}: is empty", reader.file().string()));
  Header header;
  for (const std::string& cell : row.cells) {
    ColumnRole role = role_of(cell);
    if (role.column.empty()) {
      const std::string near = did_you_mean(trimmed(cell), known_columns());
      if (!near.empty()) throw Error(fmt::format("{}: unknown column \"{}\"{}", reader.at(row), cell, near));
      table.notices.push_back(
          fmt::format("{}: column \"{}\" is not used", reader.file().filename().string(), cell));
    } else if (!holds_names(role.column)) {
      const auto twin = std::ranges::find(header.roles, role.column, &ColumnRole::column);
      if (twin != header.roles.end()) {
        throw Error(fmt::format("{}: columns \"{}\" and \"{}\" both mean {}", reader.at(row),
                                header.names[static_cast<std::size_t>(twin - header.roles.begin())], cell,
                                role.column));
      }
    }
    header.names.push_back(trimmed(cell));
    header.roles.push_back(std::move(role));
  }
  return header;
}

void require_figures(const Header& header, const std::string& file) {
  constexpr std::array<std::string_view, 8> kNoFigures{"ranks",  "threads", "fraction", "batch",
                                                       "repeat", "epochs",  "started",  "marks"};
  const bool any = std::ranges::any_of(header.roles, [&](const ColumnRole& role) {
    return !role.column.empty() && !holds_names(role.column) &&
           std::find(kNoFigures.begin(), kNoFigures.end(), role.column) == kNoFigures.end();
  });
  if (any) return;
  throw Error(fmt::format("{}: has no column of times or of figures derived from them, only {}", file,
                          join(header.names)),
              "makespan_seconds, epoch_seconds, speedup, ...: docs/study-files.md lists them");
}

TableRow read_row(const Header& header, const CsvReader& reader, const CsvRow& cells) {
  if (cells.cells.size() != header.names.size()) {
    throw Error(fmt::format("{}: has {} cells, the header {}", reader.at(cells), cells.cells.size(),
                            header.names.size()));
  }
  TableRow row;
  row.where = reader.at(cells);
  row.measurement.ranks = 0;  // unknown, unless a cell has it
  for (std::size_t i = 0; i < header.names.size(); ++i) {
    if (header.roles[i].column.empty()) continue;
    try {
      read_cell(row, header.roles[i], cells.cells[i]);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: column \"{}\" {}", row.where, header.names[i], error.what()),
                  error.hint());
    }
  }
  return row;
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

int digits_of(double half_unit) {
  return half_unit <= 0 ? 0 : std::max(0, static_cast<int>(std::lround(-std::log10(2 * half_unit))));
}

const Printed* TableRow::find(std::string_view column) const {
  const auto found = printed.find(column);
  return found == printed.end() ? nullptr : &found->second;
}

PublishedTable read_table(const std::filesystem::path& csv) {
  EncodingDetector detector;  // spreadsheets write Windows-1252, too
  if (os::special_kind(csv).empty()) detector.feed(read_text(csv).value_or(""));
  CsvReader reader(csv, {.encoding = detector.encoding()});
  PublishedTable table;
  const Header header = read_header(reader, table);
  require_figures(header, csv.string());
  std::vector<std::pair<Coordinates, std::int64_t>> repeats;
  for (CsvRow row; reader.next(row);) {
    table.rows.push_back(read_row(header, reader, row));
    table.rows.back().folder = csv.has_parent_path() ? csv.parent_path() : ".";
    if (header.has("repeat")) continue;
    // Equal rows are repeats.
    const Coordinates at = coordinates(table.rows.back().measurement);
    auto count = std::ranges::find_if(repeats, [&](const auto& r) { return r.first == at; });
    if (count == repeats.end()) count = repeats.insert(repeats.end(), {at, 0});
    table.rows.back().measurement.repeat = ++count->second;
  }
  if (table.rows.empty()) throw Error(fmt::format("{}: has a header but no rows", csv.string()));
  return table;
}

std::vector<Measurement> read_measurements(const std::filesystem::path& csv) {
  CsvReader reader(csv, ',');
  PublishedTable table;
  const Header header = read_header(reader, table);
  for (const std::string_view column : {"system", "mode", "ranks", "makespan_seconds"}) {
    if (!header.has(column)) {
      throw Error(
          fmt::format("{}:1: has no column \"{}\", only {}", csv.string(), column, join(header.names)),
          "`convoke study` writes this column; `convoke study analyze` also reads tables without it");
    }
  }
  std::vector<Measurement> measurements;
  for (CsvRow row; reader.next(row);) measurements.push_back(read_row(header, reader, row).measurement);
  return measurements;
}

}  // namespace convoke::study
