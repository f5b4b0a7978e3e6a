#include "convoke/data_prep/sources/csv_catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <tuple>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/names.hpp"
#include "convoke/data_prep/files/numbers.hpp"
#include "sources/csv_header.hpp"
#include "sources/labels.hpp"
#include "sources/table_columns.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

// In order of preference.
constexpr std::array<std::string_view, 13> kLabelColumns{
    "label",    "labels",  "class",   "class_name", "sentiment",   "target",  "diagnosis",
    "category", "species", "outcome", "classes",    "class_label", "survived"};
// As usual for a feature.
constexpr std::array<std::string_view, 6> kPossibleLabels{"level", "grade",    "y",
                                                          "stars", "polarity", "rating"};
constexpr std::array<std::string_view, 7> kSplitColumns{"split",    "data set", "data_set", "dataset",
                                                        "data-set", "set",      "subset"};

bool holds(std::span<const std::string_view> names, const std::string& name) {
  return std::find(names.begin(), names.end(), lower_case(name)) != names.end();
}

void read_weight(const std::string& cell, const NumberFormat& format, Item& item) {
  const std::optional<double> weight = format.read(cell);
  if (!weight || !(*weight >= 0 && *weight <= std::numeric_limits<float>::max())) {
    item.fault = fmt::format("has the weight \"{}\"", cell);
  } else {
    item.weight = static_cast<float>(*weight);
  }
}

}  // namespace

std::size_t column_called(const CsvHeader& header, const std::string& name, const fs::path& file) {
  const std::vector<std::string>& names = header.names;
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
  throw Error(fmt::format("{}: has no column \"{}\"{}", file.string(), name, did_you_mean(name, names)),
              (header.written ? "columns: " : "it has no header; its columns are named ") + listing(names));
}

std::optional<std::size_t> find_column(const CsvHeader& header, const std::string& given,
                                       std::span<const std::string_view> usual, const fs::path& file) {
  const std::vector<std::string>& names = header.names;
  if (!given.empty()) {
    const std::int64_t position = parse_number<std::int64_t>(given).value_or(0);
    const bool is_name = std::find(names.begin(), names.end(), given) != names.end();
    if (!is_name && position >= 1 && position <= std::ssize(names))
      return static_cast<std::size_t>(position - 1);
    return column_called(header, given, file);
  }
  for (const std::string_view name : usual) {
    const auto it =
        std::find_if(names.begin(), names.end(), [&](const std::string& n) { return lower_case(n) == name; });
    if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
  }
  return {};
}

std::optional<CsvReading> csv_beginning(const fs::path& file, const ReadingOptions& options) {
  const std::string extension = lower_case(file.extension().string());
  if ((extension != ".csv" && extension != ".tsv") || !fs::is_regular_file(file)) return {};
  try {
    CsvReading reading = examine_csv(file, options, CsvExtent::kBeginning);
    if (reading.header.names.size() >= 2) return reading;
  } catch (const Error&) {  // reported when it is opened
  }
  return {};
}

bool is_usual_name(const std::string& cell) {
  const std::string name = trimmed(cell);
  return holds(kLabelColumns, name) || holds(kPossibleLabels, name) || holds(kSplitColumns, name) ||
         holds(kTextColumns, name) || holds(kPathColumns, name) || lower_case(name) == "id" ||
         lower_case(name) == "index";
}

bool CsvRoles::uses(std::size_t column) const {
  return column == label || column == split || column == group || column == weight;
}

namespace {

/// Chooses the column of labels.
class LabelChoice {
 public:
  LabelChoice(const CsvHeader& header, std::span<const ColumnContents> contents)
      : names_(header.names), contents_(contents) {}

  std::optional<Assumption> choose(std::size_t& label) const {
    const std::optional<std::size_t> named = by_name();
    std::string why;
    if (named) {
      label = *named;
      why = "by its name";
    } else if (contents_.empty()) {
      return {};
    } else {
      std::tie(label, why) = by_place();
    }
    Assumption assumption{.what = "labels",
                          .taken = fmt::format("column \"{}\"", names_[label]),
                          .why = why,
                          .option = "--label-column"};
    const std::vector<std::string> others = other_names(label);
    if (!others.empty()) {
      assumption.why += fmt::format("; not {}", listing(others));
      assumption.doubtful = true;
    }
    return assumption;
  }

 private:
  bool usable(std::size_t column) const {
    return contents_.empty() || (!contents_[column].empty && !contents_[column].index);
  }

  std::size_t last() const {
    for (std::size_t c = names_.size(); c-- > 0;) {
      if (usable(c)) return c;
    }
    return names_.size() - 1;
  }
  std::size_t first() const {
    for (std::size_t c = 0; c < names_.size(); ++c) {
      if (usable(c)) return c;
    }
    return 0;
  }

  std::optional<std::size_t> by_name() const {
    for (const auto& usual : {std::span<const std::string_view>(kLabelColumns),
                              std::span<const std::string_view>(kPossibleLabels)}) {
      const bool sure = usual.data() == kLabelColumns.data();
      for (const std::string_view name : usual) {
        for (std::size_t c = 0; c < names_.size(); ++c) {
          if (lower_case(names_[c]) == name && usable(c) && (sure || is_possible(c))) return c;
        }
      }
    }
    return {};
  }

  // True if the place of a column does not speak against a name that is as usual for a feature.
  bool is_possible(std::size_t column) const {
    if (contents_.empty()) return true;
    if (column == last()) return true;
    const bool beside_x =
        std::any_of(names_.begin(), names_.end(), [](const std::string& n) { return lower_case(n) == "x"; });
    return column == first() && !(lower_case(names_[column]) == "y" && beside_x);
  }

  std::pair<std::size_t, std::string> by_place() const {
    const std::size_t front = first(), back = last();
    const std::string many = "the last has too many different values";
    const auto [only, count] = categories();
    if (count == 1 && contents_[only].classes && (only == front || !contents_[back].classes))
      return {only, "the only column of categories"};
    if (contents_[front].classes && !contents_[back].classes) return {front, "the first column; " + many};
    return {back, "the last column"};
  }

  // Returns the last column that holds no numbers, and the number of such columns.
  std::pair<std::size_t, std::size_t> categories() const {
    std::pair<std::size_t, std::size_t> found{0, 0};
    for (std::size_t c = 0; c < names_.size(); ++c) {
      if (usable(c) && !contents_[c].numeric) found = {c, found.second + 1};
    }
    return found;
  }

  std::vector<std::string> other_names(std::size_t label) const {
    std::vector<std::string> others;
    for (std::size_t c = 0; c < names_.size(); ++c) {
      const bool named =
          holds(kLabelColumns, names_[c]) || (holds(kPossibleLabels, names_[c]) && is_possible(c));
      if (c != label && usable(c) && named) others.push_back(fmt::format("\"{}\"", names_[c]));
    }
    return others;
  }

  const std::vector<std::string>& names_;
  std::span<const ColumnContents> contents_;
};

// Returns the number of lines within a quoted cell that have as many cells as a row.
std::size_t rows_within(const std::string& cell, char delimiter, std::size_t columns, std::size_t& lines) {
  std::size_t rows = 0;
  lines = 0;
  for (std::size_t begin = cell.find('\n'); begin != std::string::npos;) {
    const std::size_t end = cell.find('\n', begin + 1);
    if (end == std::string::npos) break;
    const auto cells = std::count(cell.begin() + static_cast<std::ptrdiff_t>(begin),
                                  cell.begin() + static_cast<std::ptrdiff_t>(end), delimiter) +
                       1;
    ++lines;
    rows += static_cast<std::size_t>(cells) == columns ? 1 : 0;
    begin = end;
  }
  return rows;
}

/// Watches for quoted cells of many lines: the longest, and those that hold rows.
class LongCells {
 public:
  LongCells(const CsvReading& reading, bool refuse) : reading_(reading), refuse_(refuse) {}

  void look_at(const CsvRow& row) {
    std::uint64_t line = row.line;
    for (const std::string& cell : row.cells) {
      const auto breaks = static_cast<std::uint64_t>(std::count(cell.begin(), cell.end(), '\n'));
      if (breaks > longest_) {
        longest_ = breaks;
        at_ = line;
      }
      if (breaks > kFewLines && refuse_) require_no_rows(cell, line, line + breaks);
      line += breaks;
    }
  }

  void report(std::vector<Assumption>& assumptions) const {
    if (longest_ <= kFewLines) return;
    assumptions.push_back({.what = "long cell",
                           .taken = fmt::format("one of {} lines begins in line {}", longest_ + 1, at_),
                           .why = "it is in double quotes",
                           .option = "--quoting"});
  }

 private:
  static constexpr std::uint64_t kFewLines = 4;

  void require_no_rows(const std::string& cell, std::uint64_t line, std::uint64_t end) const {
    std::size_t lines = 0;
    const std::size_t rows =
        rows_within(cell, reading_.format.delimiter, reading_.header.names.size(), lines);
    if (10 * rows < 8 * lines) return;
    throw Error(
        fmt::format("{}:{}: a cell begins with a quote that is closed only in line {}, and the lines "
                    "between look like rows of their own",
                    reading_.file.string(), line, end),
        "close the quote; or add --quoting none if quotes are text, --quoting csv if the cell is right");
  }

  const CsvReading& reading_;
  bool refuse_;
  std::uint64_t longest_ = 0, at_ = 0;
};

/// Says what a column with a usual name of splits holds, by the items without a fault.
class SplitColumn {
 public:
  SplitColumn(const std::string& name, const std::vector<Item>& items) : name_(name) {
    for (const Item& item : items) {
      if (item.fault.empty() && !item.split.empty()) {
        (is_usual_split(item.split) ? usual_ : others_).insert(item.split);
      }
    }
  }

  /// A value beside train and test is a split, too.
  bool holds_splits() const {
    return others_.empty() || (usual_.count("train") > 0 && usual_.count("test") > 0);
  }

  Assumption assumption() const {
    Assumption assumption{.what = "splits",
                          .taken = fmt::format("column \"{}\"", name_),
                          .why = "by its name",
                          .option = "--split-column"};
    if (others_.empty()) return assumption;
    if (!holds_splits()) assumption.taken += " has none";
    assumption.why = fmt::format("\"{}\" is no usual name of a split", *others_.begin());
    assumption.doubtful = true;
    return assumption;
  }

 private:
  const std::string& name_;
  std::set<std::string> usual_, others_;
};

}  // namespace

CsvRoles find_roles(const CsvReading& reading, const ColumnOptions& options,
                    std::span<const ColumnContents> contents) {
  const CsvHeader& header = reading.header;
  CsvRoles roles;
  if (!options.label.empty()) {
    roles.label = *find_column(header, options.label, {}, reading.file);
  } else if (const auto assumption = LabelChoice(header, contents).choose(roles.label)) {
    roles.assumptions.push_back(*assumption);
  } else {
    throw Error(
        fmt::format("{}: has no column of labels", reading.file.string()),
        fmt::format("choose one with --label-column; if each class has its own column, write the names of "
                    "the classes into one column; columns: {}",
                    listing(header.names)));
  }
  roles.split = find_column(header, options.split, kSplitColumns, reading.file);
  roles.group = find_column(header, options.group, {}, reading.file);
  roles.weight = find_column(header, options.weight, {}, reading.file);
  return roles;
}

CsvCatalog list_rows(const CsvReading& reading, const CsvRoles& roles, const SourceOptions& options,
                     const std::function<void(const CsvRow& row, Item& item)>& examine) {
  const std::string where = reading.file.string();
  const std::size_t columns = reading.header.names.size();
  CsvReader reader = reading.rows();
  CsvCatalog list;
  std::vector<Item>& items = list.catalog.items;
  std::vector<std::string> labels;
  const TableContents weights =
      roles.weight ? read_contents(reading, options.reading.decimal)[*roles.weight] : TableContents{};
  LongCells long_cells(reading, options.reading.quoting.empty());
  for (CsvRow row; reader.next(row);) {
    drop_empty_rest(row, columns);
    long_cells.look_at(row);
    Item& item = items.emplace_back(Item{.name = fmt::format("line {}", row.line)});
    list.rows.push_back({.line = row.line, .offset = row.offset});
    std::string& label = labels.emplace_back();
    if (row.cells.size() != columns) {
      item.fault = fmt::format("has {} cells, but the first row has {}", row.cells.size(), columns);
      continue;
    }
    label = row.cells[roles.label];
    if (is_missing_label(label))
      item.fault =
          trimmed(label).empty() ? "has no label" : fmt::format("has no label: \"{}\"", trimmed(label));
    const auto cell_of = [&](std::size_t column) {
      return is_missing(row.cells[column]) ? "" : trimmed(row.cells[column]);
    };
    if (roles.split) item.split = canonical_split(cell_of(*roles.split));
    if (roles.group) item.group = cell_of(*roles.group);
    if (roles.weight) read_weight(row.cells[*roles.weight], weights.format, item);
    if (item.fault.empty()) examine(row, item);
  }
  if (items.empty()) throw Error(fmt::format("{}: has no rows", where));
  if (std::none_of(items.begin(), items.end(), [](const Item& item) { return item.fault.empty(); })) {
    throw Error(fmt::format("{}: none of its {} can be used; {}: {}", where, counted(items.size(), "row"),
                            items.front().name, items.front().fault));
  }
  const ClassLabels classes =
      class_labels(labels, options.class_names,
                   fmt::format("{}: column \"{}\"", where, reading.header.names[roles.label]));
  std::optional<SplitColumn> column;
  if (roles.split && options.columns.split.empty()) column.emplace(reading.header.names[*roles.split], items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].label = std::max(0, classes.labels[i]);
    if (column && !column->holds_splits()) items[i].split.clear();
  }
  const bool splits = !options.splits_are_drawn &&
                      std::ranges::any_of(items, [](const Item& item) { return !item.split.empty(); });
  for (Item& item : items) {
    if (splits && item.split.empty() && item.fault.empty()) item.fault = "has no split";
  }
  list.catalog.classes = classes.classes;
  list.catalog.class_names = classes.class_names;
  list.catalog.weighted = roles.weight.has_value();
  std::vector<Assumption>& assumptions = list.catalog.assumptions;
  assumptions = reading.assumptions;
  assumptions.insert(assumptions.end(), roles.assumptions.begin(), roles.assumptions.end());
  assumptions.insert(assumptions.end(), classes.assumptions.begin(), classes.assumptions.end());
  if (column) assumptions.push_back(column->assumption());
  if (weights.numeric) {
    const std::vector<Assumption> written = about_column(reading.header.names[*roles.weight], weights);
    assumptions.insert(assumptions.end(), written.begin(), written.end());
  }
  long_cells.report(assumptions);
  return list;
}

CsvRow read_again(CsvReader& reader, const CsvRow& listed, std::size_t columns) {
  CsvRow row;
  reader.seek(listed);
  if (!reader.next(row) || row.cells.size() < columns)
    throw Error(fmt::format("{}: has changed while it was read", reader.at(listed)), "repeat the command");
  return row;
}

}  // namespace convoke::data_prep
