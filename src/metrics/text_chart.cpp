#include "convoke/metrics/text_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace convoke::metrics {
namespace {

constexpr int kLabel = 9;  // characters of a value on the y axis, and a blank

struct ValueRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// 0 at low, `cells` - 1 at high, the nearest between.
  int cell(double value, int cells) const {
    return high > low ? static_cast<int>(std::lround((value - low) / (high - low) * (cells - 1))) : 0;
  }
};

bool is_drawn(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

}  // namespace

std::string text_chart(const std::string& title, const std::vector<Curve>& curves, int width, int height) {
  ValueRange x;
  ValueRange y;
  for (const Curve& curve : curves) {
    for (const auto& point : curve.points) {
      if (!is_drawn(point)) continue;
      x.take(point.first);
      y.take(point.second);
    }
  }
  if (x.high < x.low) return {};

  const int columns = std::max(8, width - kLabel - 1);
  const int rows = std::max(3, height);
  std::vector<std::string> cells(static_cast<std::size_t>(rows),
                                 std::string(static_cast<std::size_t>(columns), ' '));
  std::string names;
  for (const Curve& curve : curves) {
    bool any = false;
    for (const auto& point : curve.points) {
      if (!is_drawn(point)) continue;
      any = true;
      const auto row = static_cast<std::size_t>(rows - 1 - y.cell(point.second, rows));
      cells[row][static_cast<std::size_t>(x.cell(point.first, columns))] = curve.mark;
    }
    if (any) names += fmt::format("   {} {}", curve.mark, curve.name);
  }

  std::string text = title + names + "\n";
  for (int row = 0; row < rows; ++row) {
    const std::string label = row == 0          ? fmt::format("{:.4g}", y.high)
                              : row == rows - 1 ? fmt::format("{:.4g}", y.low)
                                                : std::string();
    std::string line = fmt::format("{:>{}} |{}", label, kLabel - 1, cells[static_cast<std::size_t>(row)]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  const std::string last = fmt::format("{:g}", x.high);
  return text + fmt::format("{:>{}}{:<{}}{}\n", "", kLabel + 1, fmt::format("{:g}", x.low),
                            columns - static_cast<int>(last.size()), last);
}

}  // namespace convoke::metrics
