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

/// A position along an axis that has a label.
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

/// Returns the axis of values of `chart`. A logarithmic axis begins at a power of ten below all values; a
/// linear axis begins and ends at a tick. `shown`: values and ends of intervals; `labels`: the number of
/// labels that fit.
Axis value_axis(const Chart& chart, Bounds shown, bool from_zero, int labels);

/// Returns the axis of names, which are at 0, 1, 2, ...; if there are very many, only every second or third
/// has a label.
Axis name_axis(const Chart& chart);

/// Returns the x axis of lines and histograms, from the first to the last position. `end`: the end of the
/// last bin.
Axis place_axis(const Chart& chart, std::optional<double> end);

/// Returns an axis of a scatter chart, with a margin for the marks; it ends at `most`.
Axis point_axis(const std::string& title, const Bounds& shown, std::optional<double> most);

}  // namespace convoke::report
