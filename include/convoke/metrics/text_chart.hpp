#pragma once
#include <string>
#include <utility>
#include <vector>

namespace convoke::metrics {

/// A curve: points (x, y) by rising x.
struct Curve {
  std::string name;
  char mark;  ///< what its points are drawn with
  std::vector<std::pair<double, double>> points;
};

/// Curves as text, `width` x `height` characters and a line that names them: the y axis from the lowest to
/// the highest value, the x axis from the first to the last point of all. Later curves lie over earlier ones.
/// Points that are not finite are left out; empty without any others.
std::string text_chart(const std::string& title, const std::vector<Curve>& curves, int width, int height);

}  // namespace convoke::metrics
