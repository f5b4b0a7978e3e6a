#pragma once
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "convoke/report/chart.hpp"

namespace convoke::report {

/// The smallest and largest of some numbers.
struct Bounds {
  double low = std::numeric_limits<double>::infinity(), high = -low, least_positive = low;

  void add(double number);  ///< ignored if it is not finite
};

/// A place along an axis that has a label.
struct Tick {
  double at = 0;
  std::string label;
};

/// An axis with its ends and labels.
struct Axis {
  std::string title;
  double low = 0, high = 1;
  int logarithm = 0;  ///< its base, 2 or 10; 0: the axis is linear
  std::vector<Tick> ticks = {};
};

/// The axis of values of `chart`. A logarithmic one begins at a power of ten below all values; a linear one
/// begins and ends at a tick. `shown`: values and ends of intervals; `labels`: how many there is room for.
Axis value_axis(const Chart& chart, Bounds shown, bool from_zero, int labels);

/// The axis of names, which stand at 0, 1, 2, ...; of very many names only every second or third has a label.
Axis name_axis(const Chart& chart);

/// The x axis of lines and histograms, from the first to the last place. `end`: where the last bin ends.
Axis place_axis(const Chart& chart, std::optional<double> end);

/// An axis of a scatter chart, with a margin for the marks; it ends at `most`.
Axis point_axis(const std::string& title, const Bounds& shown, std::optional<double> most);

}  // namespace convoke::report
