#include "convoke/report/overlay.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"

namespace convoke::report {
namespace {

constexpr double kCover = 0.65;  // share of the color where the map is 1

/// The two places of an axis between which a pixel lies, and the share of the second.
struct Between {
  std::int64_t first, second;
  double share;
};

Between between(std::int64_t pixel, std::int64_t pixels, std::int64_t places) {
  const double at = std::clamp(
      (static_cast<double>(pixel) + 0.5) * static_cast<double>(places) / static_cast<double>(pixels) - 0.5,
      0.0, static_cast<double>(places - 1));
  const auto first = static_cast<std::int64_t>(at);
  return {first, std::min(first + 1, places - 1), at - static_cast<double>(first)};
}

}  // namespace

Picture overlaid(const Picture& picture, const Overlay& map) {
  ensure(map.height > 0 && map.width > 0 && std::ssize(map.values) == map.height * map.width,
         "a map has a value for each place");
  const auto value = [&](std::int64_t y, std::int64_t x) {
    return map.values[static_cast<std::size_t>(y * map.width + x)];
  };
  Picture colored{picture.width, picture.height, 3, {}};
  colored.pixels.reserve(static_cast<std::size_t>(picture.width * picture.height * 3));
  for (std::int64_t y = 0; y < picture.height; ++y) {
    const Between rows = between(y, picture.height, map.height);
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const Between columns = between(x, picture.width, map.width);
      const double above =
          std::lerp(value(rows.first, columns.first), value(rows.first, columns.second), columns.share);
      const double below =
          std::lerp(value(rows.second, columns.first), value(rows.second, columns.second), columns.share);
      const double heat = std::clamp(std::lerp(above, below, rows.share), 0.0, 1.0);
      const std::array<double, 3> color{255, 235 * heat * heat, 30};
      for (std::int64_t c = 0; c < 3; ++c) {
        const std::int64_t from =
            (y * picture.width + x) * picture.channels + (picture.channels == 3 ? c : 0);
        const double pixel = picture.pixels[static_cast<std::size_t>(from)];
        colored.pixels.push_back(static_cast<std::uint8_t>(
            std::lround(std::lerp(pixel, color[static_cast<std::size_t>(c)], kCover * heat))));
      }
    }
  }
  return colored;
}

}  // namespace convoke::report
