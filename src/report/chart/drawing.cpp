#include "report/chart/drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "convoke/core/text.hpp"

namespace convoke::report {
namespace {

constexpr std::size_t kManyRows = 14;    // above this, bars are horizontal
constexpr std::size_t kManyPoints = 40;  // above this, lines have no marks and bars no outlines
constexpr std::size_t kCloudOfPoints = 1000;
constexpr std::size_t kNarrowLine = 42;                // characters of names that fit side by side
constexpr std::size_t kManySeries = 24;                // above this, there is no legend
constexpr std::size_t kInLegend = 36;                  // characters of a label
constexpr std::size_t kTitle = 40, kNarrowTitle = 28;  // characters of an axis title; narrow: next to names
constexpr std::array kKinds{"bar", "histogram", "line", "scatter", "box"};

bool names_fit(const Axis& names) {
  std::size_t longest = 0;
  for (const Tick& tick : names.ticks) longest = std::max(longest, character_count(tick.label));
  return longest * names.ticks.size() <= kNarrowLine;
}

Bounds bounds(const Table& table, const std::vector<std::size_t>& columns) {
  Bounds shown;
  for (const std::vector<Cell>& row : table.rows) {
    for (const std::size_t column : columns) shown.add(row[column].as_double());
  }
  return shown;
}

// The sums of the columns.
Bounds bounds_of_sums(const Table& table, const std::vector<std::size_t>& columns) {
  Bounds shown;
  for (const std::vector<Cell>& row : table.rows) {
    double sum = 0;
    for (const std::size_t column : columns) sum += std::fmax(row[column].as_double(), 0);
    shown.add(sum);
  }
  return shown;
}

// Columns of the table with values or ends of intervals.
std::vector<std::size_t> columns_of(const std::vector<DrawnSeries>& series) {
  std::vector<std::size_t> columns;
  for (const DrawnSeries& each : series) {
    columns.push_back(each.column);
    if (each.high != 0) columns.insert(columns.end(), {each.low, each.high});
  }
  return columns;
}

template <class Numbers>
Value::Array list(const Numbers& numbers) {
  Value::Array all;
  for (const auto& number : numbers) all.emplace_back(static_cast<std::int64_t>(number));
  return all;
}

Settings settings_of(const Axis& axis) {
  Value::Array at, labels;
  for (const Tick& tick : axis.ticks) {
    at.emplace_back(tick.at);
    labels.emplace_back(tick.label);
  }
  return {{"title", axis.title}, {"low", axis.low}, {"high", axis.high}, {"logarithmic", axis.logarithm != 0},
          {"ticks", at},         {"labels", labels}};
}

Settings settings_of(const DrawnSeries& series) {
  const SeriesStyle& style = series.style;
  return {{"label", series.label},
          {"column", static_cast<std::int64_t>(series.column)},
          {"ends", series.high == 0 ? Value::Array() : list(std::array{series.low, series.high})},
          {"rows", list(series.rows)},
          {"colors", Value::Array{style.tone().on_light, style.tone().on_dark}},
          {"mark", style.mark().chart_js},
          {"rotation", style.mark().chart_js_rotation},
          {"hollow", style.apart},
          {"dash", list(style.dash())},
          {"filling", style.filling()}};
}

}  // namespace

Drawing::Drawing(const Chart& drawn, std::span<const SeriesStyle> styles) : chart(drawn) {
  using Kind = Chart::Kind;
  const Kind kind = chart.kind;
  const Table& table = chart.table;
  const auto rows = static_cast<double>(table.rows.size());

  // 1. Series.
  const std::vector<std::string> names = chart.names();
  const std::map<std::string, std::string> labels = distinct_names(names, kInLegend);
  const std::vector<std::size_t> columns = chart.series();
  for (std::size_t s = 0; s < names.size(); ++s) {
    DrawnSeries& each = series.emplace_back(
        DrawnSeries{.label = labels.at(names[s]), .column = kind == Kind::kScatter ? 1 : columns[s]});
    each.style = styles[s];
    if (const Chart::Interval* const interval = chart.interval_of(each.column))
      each.low = interval->low, each.high = interval->high;
    for (std::size_t r = 0; kind == Kind::kScatter && r < table.rows.size(); ++r) {
      if (table.rows[r][2].text == names[s]) each.rows.push_back(r);
    }
  }
  legend = series.size() > 1 && series.size() <= kManySeries;
  many = table.rows.size() > (kind == Kind::kScatter ? kCloudOfPoints : kManyPoints);

  // 2. Axes.
  const Bounds shown = chart.stacked ? bounds_of_sums(table, columns)
                                     : bounds(table, kind == Kind::kBox ? columns : columns_of(series));
  if (kind == Kind::kScatter) {
    along = point_axis(chart.x_title, bounds(table, {0}), {});
    values = point_axis(chart.y_title, shown, chart.most);
  } else if (kind == Kind::kBar || kind == Kind::kBox) {
    along = name_axis(chart);
    horizontal = kind == Kind::kBox || table.rows.size() > kManyRows || !names_fit(along);
  } else if (kind == Kind::kHistogram && rows > 0) {
    along = place_axis(chart, bin_edges(table).back());
  } else {
    along = place_axis(chart, {});
  }
  if (kind != Kind::kScatter) {
    const bool from_zero = kind == Kind::kBar || kind == Kind::kHistogram || chart.from_zero;
    values = value_axis(chart, shown, from_zero, horizontal ? 4 : 6);
  }

  values.title = shortened(one_line(values.title), horizontal ? kNarrowTitle : kTitle);
  along.title = shortened(one_line(along.title), kTitle);

  // 3. The height of horizontal rows.
  if (kind == Kind::kBox) text_lines = 1.25 * std::max(rows, 3.0);
  if (kind == Kind::kBar && horizontal)
    text_lines = rows * (chart.stacked ? 1.25 : std::max(1.0, 0.6 * static_cast<double>(series.size())));
}

Settings Drawing::settings() const {
  Value::Array all;
  for (const DrawnSeries& each : series) all.emplace_back(settings_of(each));
  return {{"kind", kKinds[static_cast<std::size_t>(chart.kind)]},
          {"horizontal", horizontal},
          {"stacked", chart.stacked},
          {"legend", legend},
          {"many", many},
          {"lines", text_lines},
          {"along", settings_of(along)},
          {"values", settings_of(values)},
          {"series", std::move(all)}};
}

std::vector<double> bin_edges(const Table& table) {
  std::vector<double> edges;
  for (const std::vector<Cell>& row : table.rows) edges.push_back(row.front().as_double());
  const std::size_t count = edges.size();
  if (count > 0) edges.push_back(edges[count - 1] + (count > 1 ? edges[count - 1] - edges[count - 2] : 1));
  return edges;
}

}  // namespace convoke::report
