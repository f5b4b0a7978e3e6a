#include "convoke/data_prep/sources/csv_catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/number.hpp"
#include "convoke/data_prep/files/picture_names.hpp"
#include "sources/labels.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

// In order of preference.
constexpr std::array<std::string_view, 14> kLabelColumns{
    "label", "labels", "class",     "class_name", "sentiment", "target", "level",
    "grade", "y",      "diagnosis", "category",   "species",   "stars",  "polarity"};
constexpr std::array<std::string_view, 7> kSplitColumns{"split",    "data set", "data_set", "dataset",
                                                        "data-set", "set",      "subset"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// True if no cell is empty, a number, the file of a picture, or a duplicate.
bool is_header_row(const std::vector<std::string>& cells) {
  std::set<std::string_view> seen;
  return std::all_of(cells.begin(), cells.end(), [&](const std::string& cell) {
    return !trimmed(cell).empty() && !number_in(cell) && !is_picture_name(cell) && seen.insert(cell).second;
  });
}

bool is_split_name(const std::string& cell) {
  const std::string split = canonical_split(trimmed(cell));
  return split.empty() || split == "train" || split == "validation" || split == "test";
}

void read_weight(const std::string& cell, Item& item) {
  const std::optional<double> weight = number_in(cell);
  if (!weight || !std::isfinite(*weight) || *weight < 0) {
    item.fault = fmt::format("has the weight \"{}\"", cell);
  } else {
    item.weight = static_cast<float>(*weight);
  }
}

}  // namespace

CsvHeader read_header(CsvReader& reader) {
  CsvRow row;
  if (!reader.next(row)) throw Error(fmt::format("{}: is empty", reader.file().string()));
  CsvHeader header{.names = {}, .written = is_header_row(row.cells)};
  for (const std::string& cell : row.cells) header.names.push_back(trimmed(cell));
  if (!header.written) {
    reader.seek(row);
    for (std::size_t i = 0; i < row.cells.size(); ++i) header.names[i] = fmt::format("column_{}", i + 1);
  }
  return header;
}

std::optional<std::size_t> find_column(const CsvHeader& header, const std::string& given,
                                       std::span<const std::string_view> usual, const fs::path& file) {
  const std::vector<std::string>& names = header.names;
  if (!given.empty()) {
    const auto it = std::find(names.begin(), names.end(), given);
    if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
    throw Error(fmt::format("{}: has no column \"{}\"{}", file.string(), given, did_you_mean(given, names)),
                (header.written ? "columns: " : "it has no header; its columns are named ") + join(names));
  }
  for (const std::string_view name : usual) {
    const auto it =
        std::find_if(names.begin(), names.end(), [&](const std::string& n) { return lower(n) == name; });
    if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
  }
  return {};
}

std::optional<CsvHeader> csv_header(const fs::path& file) {
  const std::string extension = lower(file.extension().string());
  if ((extension != ".csv" && extension != ".tsv") || !fs::is_regular_file(file)) return {};
  CsvReader reader(file);
  CsvRow row;
  if (!reader.next(row) || row.cells.size() < 2) return {};
  reader.seek(row);
  return read_header(reader);
}

CsvRoles find_roles(const CsvHeader& header, const ColumnOptions& options, bool last_is_label,
                    const fs::path& file) {
  const std::optional<std::size_t> label = find_column(header, options.label, kLabelColumns, file);
  if (!label && !last_is_label) {
    throw Error(fmt::format("{}: has no column of labels", file.string()),
                fmt::format("choose one with --label-column; columns: {}", join(header.names)));
  }
  return {.label = label.value_or(header.names.size() - 1),
          .split = find_column(header, options.split, kSplitColumns, file),
          .group = find_column(header, options.group, {}, file),
          .weight = find_column(header, options.weight, {}, file)};
}

CsvCatalogue list_rows(const fs::path& file, const CsvRoles& roles, const ColumnOptions& options,
                       const std::vector<std::string>& class_names,
                       const std::function<void(const CsvRow& row, Item& item)>& examine) {
  CsvReader reader(file);
  const std::size_t columns = read_header(reader).names.size();
  CsvCatalogue list;
  std::vector<Item>& items = list.catalogue.items;
  std::vector<std::string> labels;
  bool splits = roles.split.has_value();
  for (CsvRow row; reader.next(row);) {
    Item& item = items.emplace_back(Item{.name = fmt::format("line {}", row.line)});
    list.rows.push_back({.line = row.line, .offset = row.offset});
    std::string& label = labels.emplace_back();
    if (row.cells.size() != columns) {
      item.fault = fmt::format("has {} cells, but the first row has {}", row.cells.size(), columns);
      continue;
    }
    label = row.cells[roles.label];
    if (trimmed(label).empty()) item.fault = "has no label";
    if (roles.split) {
      item.split = canonical_split(trimmed(row.cells[*roles.split]));
      splits = splits && (!options.split.empty() || is_split_name(item.split));
    }
    if (roles.group) item.group = trimmed(row.cells[*roles.group]);
    if (roles.weight) read_weight(row.cells[*roles.weight], item);
    if (item.fault.empty()) examine(row, item);
  }
  if (items.empty()) throw Error(fmt::format("{}: has no rows", file.string()));

  const ClassLabels classes = class_labels(labels, class_names, file.string());
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].label = std::max(0, classes.labels[i]);
    if (!splits) items[i].split.clear();
  }
  list.catalogue.classes = classes.classes;
  list.catalogue.class_names = classes.class_names;
  list.catalogue.weighted = roles.weight.has_value();
  return list;
}

}  // namespace convoke::data_prep
