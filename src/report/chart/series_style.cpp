#include "report/chart/series_style.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace convoke::report {
namespace {

constexpr std::array kMarks{Mark{"circle", 0, 7}, Mark{"rect", 0, 5}, Mark{"triangle", 0, 9},
                            Mark{"rectRot", 0, 13}, Mark{"triangle", 180, 11}};
constexpr std::array kDashes{std::array{0, 0, 0, 0}, std::array{9, 4, 0, 0}, std::array{9, 3, 2, 3},
                             std::array{2, 3, 0, 0}, std::array{16, 3, 0, 0}};
constexpr std::array kApartDash{4, 4, 0, 0};
constexpr int kHatchings = 4;

// Channels of pictures have their own color.
constexpr std::array kChannels{std::pair{"blue", 0}, std::pair{"red", 1}, std::pair{"green", 8},
                               std::pair{"gray", 9}};

// Each cycle of the palette has another mark and dash, so that any two numbers below kinds x colors differ.
template <class Kinds>
const auto& kind_of(std::size_t number, const Kinds& kinds) {
  return kinds[(number + number / kPalette.size()) % kinds.size()];
}

}  // namespace

const Tone& SeriesStyle::tone() const { return kPalette[number % kPalette.size()]; }

const Mark& SeriesStyle::mark() const { return kind_of(number, kMarks); }

std::vector<int> SeriesStyle::dash() const {
  const auto& lengths = apart ? kApartDash : kind_of(number, kDashes);
  return {lengths.begin(), std::find(lengths.begin(), lengths.end(), 0)};
}

// Solid for the first three colors, which differ in gray, then pale; hatching is not visible on a thin bar.
int SeriesStyle::filling() const {
  constexpr std::size_t kSolid = 3, kPale = 3;
  if (number < kSolid) return 0;
  if (number < kSolid + kPale) return 1;
  return 2 + static_cast<int>(number - kSolid - kPale) % kHatchings;
}

// Each name takes the first style that no name in a chart with it has: a graph coloring of the names, in
// order of first appearance.
SeriesStyles::SeriesStyles(std::span<const Chart> charts) {
  std::vector<std::string> order;
  std::map<std::string, std::set<std::string>> together;
  std::map<std::string, std::string> apart;
  for (const Chart& chart : charts) {
    std::vector<std::string> names = chart.names();
    for (const auto& [name, other] : chart.apart)
      names.push_back(other);  // keeps its color from other series, even if it is not drawn
    for (const std::string& name : names) {
      if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
      together[name].insert(names.begin(), names.end());
    }
    apart.insert(chart.apart.begin(), chart.apart.end());
    if (chart.kind != Chart::Kind::kHistogram) continue;
    for (const auto& [channel, number] : kChannels) {
      if (together.contains(channel)) styles_[channel] = {static_cast<std::size_t>(number)};
    }
  }
  const auto take_from = [&](const std::string& name, SeriesStyle style) {
    const auto taken = [&](const std::string& other) {
      const auto known = styles_.find(other);
      return known != styles_.end() && known->second == style;
    };
    while (std::ranges::any_of(together[name], taken)) ++style.number;
    styles_.emplace(name, style);
  };
  for (const std::string& name : order) {
    if (!styles_.contains(name) && !apart.contains(name)) take_from(name, {});
  }
  for (const std::string& name : order) {
    if (styles_.contains(name)) continue;
    const auto other = styles_.find(apart[name]);
    take_from(name, {other == styles_.end() ? 0 : other->second.number, true});
  }
}

std::vector<SeriesStyle> SeriesStyles::of(const Chart& chart) const {
  std::vector<SeriesStyle> styles;
  for (const std::string& name : chart.names()) styles.push_back(styles_.at(name));
  return styles;
}

}  // namespace convoke::report
