#pragma once
#include <string>
#include <utility>
#include <vector>

namespace convoke::metrics {

/// A curve: points (x, y) by ascending x.
struct Curve {
  std::string name;
  char mark;  ///< the character of its points
  std::vector<std::pair<double, double>> points;
};

/// Draws curves as text of `width` x `height` characters, with a line that names them. The axes span the
/// values of all points. Later curves cover earlier ones. Points that are not finite are left out; the text
/// is empty if no others remain.
std::string text_chart(const std::string& title, const std::vector<Curve>& curves, int width, int height);

}  // namespace convoke::metrics
