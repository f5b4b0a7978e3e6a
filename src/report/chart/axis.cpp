#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "convoke/core/text.hpp"
#include "report/chart/drawing.hpp"

namespace convoke::report {
namespace {

constexpr int kLabels = 6;
constexpr double kRounding = 1e-9;  // relative to a step

// Returns a label: "0.05", "2000", "12.5k", "3M".
std::string tick_label(double number) {
  constexpr double kLongest = 1e4;
  constexpr std::array kUnits{std::pair{1e9, "G"}, std::pair{1e6, "M"}, std::pair{1e3, "k"}};
  const double size = std::abs(number);
  for (const auto& [unit, letter] : kUnits) {
    if (size >= kLongest && size >= unit) return fmt::format("{:.6g}{}", number / unit, letter);
  }
  return fmt::format("{:.6g}", number);
}

// Returns the next number that is 1, 2 or 5 times a power of ten.
double round_up(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (least <= factor * power * (1 + kRounding)) return factor * power;
  }
  return 10 * power;
}

// Returns a step such that at most `count` steps cover the length.
double round_step(double length, int count) { return round_up(length / count); }

std::vector<Tick> ticks_at_steps(double low, double high, double step) {
  std::vector<Tick> ticks;
  for (double n = std::ceil(low / step - kRounding); n <= high / step + kRounding; ++n)
    ticks.push_back({n * step, tick_label(n * step + 0.0)});  // -0 becomes 0
  return ticks;
}

// Half of the smallest value leaves room to show it, as a bar or above the axis.
Axis decades(const Bounds& shown, int labels) {
  Axis axis{.title = {}, .low = 1, .high = 10, .logarithm = 10};
  if (std::isfinite(shown.least_positive)) {
    axis.low = std::pow(10, std::floor(std::log10(shown.least_positive / 2)));
    axis.high = round_up(shown.high);
  }
  const double count = std::log10(axis.high / axis.low);
  const int every = std::max(1, static_cast<int>(std::ceil(count / labels)));
  constexpr double kFew = 1.5;  // decades up to which 2 and 5 have labels too
  for (int n = 0; n <= count + 1; n += every) {
    const double power = axis.low * std::pow(10, n);
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && count > kFew) break;
      if (power * factor <= axis.high * (1 + kRounding))
        axis.ticks.push_back({power * factor, tick_label(power * factor)});
    }
  }
  return axis;
}

// If workers are doubled four times or more: the smallest number and its doublings, which then have equal
// distances (log2) along the axis; otherwise empty.
std::vector<double> doublings_of(const Chart& chart, const std::set<double>& places) {
  constexpr double kSeveral = 16;
  std::vector<double> numbers;
  if (!chart.of_workers || places.empty()) return numbers;
  const double least = *places.begin(), largest = *places.rbegin();
  if (least <= 0 || largest < kSeveral * least) return numbers;
  for (double x = least; x <= largest; x *= 2) numbers.push_back(x);
  return numbers;
}

// All doublings have a label, or every second one and so on if there is less room.
Axis doubling_axis(const std::vector<double>& doublings, double high) {
  constexpr std::size_t kDoublings = 8;
  Axis axis{.title = {}, .low = doublings.front(), .high = high, .logarithm = 2};
  const std::size_t every = (doublings.size() + kDoublings - 1) / kDoublings;
  for (std::size_t d = 0; d < doublings.size(); d += every)
    axis.ticks.push_back({doublings[d], fmt::format("{:g}", doublings[d])});
  return axis;
}

using Names = std::map<std::string, std::string>;

// Returns the first `begin` characters, "…" and the last ones: `characters` in total.
std::string cut(const std::string& name, std::size_t begin, std::size_t characters) {
  const std::string line = one_line(name);
  std::vector<std::string> letters;
  for (std::size_t at = 0; at < line.size(); at += letters.back().size())
    letters.push_back(line.substr(at, utf8_length(std::string_view(line).substr(at))));
  if (letters.size() <= characters) return line;
  std::string text;
  for (std::size_t i = 0; i < begin; ++i) text += letters[i];
  text += "…";
  for (std::size_t i = letters.size() - (characters - begin - 1); i < letters.size(); ++i) text += letters[i];
  return text;
}

Names cut_all(std::span<const std::string> names, std::size_t begin, std::size_t characters) {
  Names all;
  for (const std::string& name : names) all[name] = cut(name, begin, characters);
  return all;
}

bool differ(const Names& names) {
  std::set<std::string> seen;
  for (const auto& [name, called] : names) seen.insert(called);
  return seen.size() == names.size();
}

}  // namespace

void Bounds::add(double number) {
  if (!std::isfinite(number)) return;
  low = std::min(low, number);
  high = std::max(high, number);
  if (number > 0) least_positive = std::min(least_positive, number);
}

Axis value_axis(const Chart& chart, Bounds shown, bool from_zero, int labels) {
  Axis axis;
  if (chart.logarithmic) {
    axis = decades(shown, labels);
  } else {
    if (from_zero || shown.low >= shown.high) shown.add(0);
    if (shown.low >= shown.high) shown.add(1);
    const double step = round_step(shown.high - shown.low, labels);
    axis.low = step * std::floor(shown.low / step + kRounding);
    axis.high = step * std::ceil(shown.high / step - kRounding);
    if (chart.most) axis.high = std::min(axis.high, *chart.most);
    axis.ticks = ticks_at_steps(axis.low, axis.high, step);
  }
  axis.title = chart.y_title;
  return axis;
}

Axis name_axis(const Chart& chart) {
  constexpr std::size_t kLongest = 28, kMostNames = 55;
  const auto count = chart.table.rows.size();
  Axis axis{.title = chart.x_title, .low = -0.6, .high = static_cast<double>(count) - 0.4};
  std::vector<std::string> of_rows;
  for (const std::vector<Cell>& row : chart.table.rows) of_rows.push_back(row.front().text);
  const std::map<std::string, std::string> names = distinct_names(of_rows, kLongest);
  const std::size_t every = std::max<std::size_t>(1, (count + kMostNames - 1) / kMostNames);
  for (std::size_t r = 0; r < count; r += every)
    axis.ticks.push_back({static_cast<double>(r), names.at(of_rows[r])});
  return axis;
}

Axis place_axis(const Chart& chart, std::optional<double> end) {
  constexpr double kRoom = 0.02;  // share of the axis, for a letter of a label
  std::set<double> places;
  std::size_t longest = 4;
  for (const std::vector<Cell>& row : chart.table.rows) {
    if (const double x = row.front().as_double(); std::isfinite(x)) {
      places.insert(x);
      longest = std::max(longest, tick_label(x).size());
    }
  }
  Axis axis;
  if (const std::vector<double> doublings = doublings_of(chart, places); !doublings.empty()) {
    axis = doubling_axis(doublings, *places.rbegin());
  } else if (!places.empty()) {
    axis.low = *places.begin();
    axis.high = end.value_or(*places.rbegin());
    const double length = axis.high - axis.low;
    const double room = kRoom * static_cast<double>(longest) * length;
    const auto close = [&](double a, double b) { return b - a < room; };
    const bool whole = std::ranges::all_of(places, [](double x) { return x == std::floor(x); });
    if (std::ranges::adjacent_find(places, close) == places.end()) {
      for (const double x : places) axis.ticks.push_back({x, tick_label(x)});
    } else {
      const double step = round_step(length, kLabels);
      axis.ticks = ticks_at_steps(axis.low, axis.high, whole ? std::max(step, 1.0) : step);
    }
    if (length <= 0) axis.low -= 0.5, axis.high += 0.5;
  }
  axis.title = chart.x_title;
  return axis;
}

Axis point_axis(const std::string& title, const Bounds& shown, std::optional<double> most) {
  constexpr double kMargin = 0.04;
  Axis axis{.title = title};
  if (shown.low > shown.high) return axis;
  const double length = shown.high > shown.low ? shown.high - shown.low : 1;
  axis.low = shown.low - kMargin * length;
  axis.high = std::min(shown.high + kMargin * length, most.value_or(HUGE_VAL));
  axis.ticks = ticks_at_steps(axis.low, axis.high, round_step(length, kLabels));
  return axis;
}

Names distinct_names(std::span<const std::string> names, std::size_t characters) {
  const std::size_t middle = characters / 2;
  for (std::size_t aside = 0; aside < middle - 1; ++aside) {
    for (const std::size_t begin : {middle - aside, middle + aside}) {
      if (begin + 1 >= characters) continue;
      Names all = cut_all(names, begin, characters);
      if (differ(all)) return all;
    }
  }
  constexpr std::size_t kNumber = 4;  // " 123"
  Names all = cut_all(names, middle, characters - kNumber);
  std::map<std::string, int> counts;
  for (auto& [name, called] : all) {
    const int count = ++counts[called];
    if (count > 1) called += fmt::format(" {}", count);
  }
  return all;
}

}  // namespace convoke::report
