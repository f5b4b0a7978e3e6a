#include "report/study/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "convoke/core/text.hpp"

namespace convoke::report {

void add_point(Lines& lines, const std::string& name, const std::vector<std::string>& marks,
               const Line::Point& point) {
  const std::string full = marks.empty() ? name : fmt::format("{}, {}", name, join(marks));
  auto line = std::ranges::find_if(lines, [&](const Line& l) { return l.name == full; });
  if (line == lines.end()) line = lines.insert(lines.end(), Line{full, {}, marks.empty() ? "" : name});
  line->points.push_back(point);
}

Chart line_chart(const std::string& title, const std::string& note, const std::string& x_title,
                 const std::string& y_title, const std::vector<Line>& lines) {
  constexpr int kDigits = 5;
  Chart chart{Chart::Kind::kLine, title, note, x_title, y_title, {{x_title}, {}}};
  chart.from_zero = true;
  std::set<double> places;
  std::vector<const Line*> drawn;
  std::vector<bool> with_ends;
  for (const Line& line : lines) {
    if (line.points.empty()) continue;
    drawn.push_back(&line);
    if (!line.apart_from.empty()) chart.apart[line.name] = line.apart_from;
    for (const Line::Point& point : line.points) places.insert(point.x);
    const std::size_t column = chart.table.columns.size();
    chart.table.columns.push_back(line.name);
    with_ends.push_back(std::ranges::any_of(
        line.points, [](const Line::Point& point) { return point.interval.has_value(); }));
    if (!with_ends.back()) continue;
    chart.table.columns.push_back(line.name + ", from");
    chart.table.columns.push_back(line.name + ", to");
    chart.intervals.push_back({column, column + 1, column + 2});
  }
  for (const double x : places) {
    std::vector<Cell> row{Cell::number(x)};
    for (std::size_t l = 0; l < drawn.size(); ++l) {
      const auto at =
          std::ranges::find_if(drawn[l]->points, [&](const Line::Point& point) { return point.x == x; });
      const bool there = at != drawn[l]->points.end();
      row.push_back(Cell::number(there ? at->y : NAN, kDigits));
      if (!with_ends[l]) continue;
      const bool known = there && at->interval;
      row.push_back(Cell::number(known ? at->interval->low : NAN, kDigits));
      row.push_back(Cell::number(known ? at->interval->high : NAN, kDigits));
    }
    chart.table.rows.push_back(std::move(row));
  }
  return chart;
}

ShortNames::ShortNames(std::span<const study::MeasuredConfiguration> configurations,
                       std::span<const study::Curve* const> curves) {
  std::vector<study::Coordinates> places;
  for (const study::MeasuredConfiguration& configuration : configurations) places.push_back(configuration.at);
  for (const study::Curve* curve : curves) places.push_back(curve->shared);
  using At = const study::Coordinates&;
  const auto some = [&](const auto& differ) {
    return std::ranges::any_of(
        places, [&](At a) { return std::ranges::any_of(places, [&](At b) { return differ(a, b); }); });
  };
  systems_ = some([](At a, At b) { return a.system != b.system; });
  modes_ = some([](At a, At b) { return a.system == b.system && a.mode != b.mode; });
  batches_ = some([](At a, At b) { return a.batch != b.batch; });
  variants_ = some([](At a, At b) { return a.variant != b.variant; });
  machines_ = some([](At a, At b) { return a.machine != b.machine; });
  fractions_ = some([](At a, At b) { return a.fraction != b.fraction; });
  threads_ = some([](At a, At b) { return a.ranks > 0 && b.ranks > 0 && a.threads != b.threads; });
}

std::string ShortNames::configuration(const study::Coordinates& at) const {
  if (at.ranks == 0) return curve(at);
  const std::string ranks =
      threads_ ? fmt::format("{} x {}", at.ranks, at.threads) : counted(at.ranks, "rank");
  const std::string emulated = at.emulated ? ", emulated" : "";
  const bool alone = !(systems_ || modes_ || batches_ || variants_ || fractions_ || machines_);
  return (alone ? ranks : fmt::format("{}, {}", curve(at), ranks)) + emulated;
}

std::string ShortNames::curve(const study::Coordinates& at) const {
  std::vector<std::string> parts;
  if (systems_) parts.push_back(at.system);
  if (modes_) parts.push_back(at.mode);
  if (variants_) parts.push_back(at.variant);
  if (machines_) parts.push_back(at.machine);
  if (batches_) parts.push_back(at.batch);
  if (fractions_) parts.push_back(study::fraction_text(at.fraction));
  std::erase(parts, "");
  return parts.empty() ? std::string("all") : join(parts);
}

}  // namespace convoke::report
