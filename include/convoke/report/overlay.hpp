#pragma once
#include <cstdint>
#include <vector>

#include "convoke/report/picture.hpp"

namespace convoke::report {

/// Numbers from 0 to 1 for the places of a picture, on a grid of its own.
struct Overlay {
  std::int64_t height = 0, width = 0;
  std::vector<double> values = {};  ///< (height, width)
};

/// Returns the picture in colors with the map over it, interpolated linearly between the centers of its
/// places: 0 leaves the picture as it is, larger values are red, the largest yellow.
Picture overlaid(const Picture& picture, const Overlay& map);

}  // namespace convoke::report
