#include "convoke/explore/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace convoke::explore {

Matrix gray(const Shape& shape, std::span<const double> values) {
  Matrix image(shape[0], shape[1]);
  const auto channels = static_cast<std::size_t>(shape[2]);
  for (std::size_t pixel = 0; pixel < image.values.size(); ++pixel) {
    double sum = 0;
    for (std::size_t c = 0; c < channels; ++c) sum += values[pixel * channels + c];
    image.values[pixel] = sum / static_cast<double>(channels);
  }
  return image;
}

//   G = sqrt(Gx^2 + Gy^2)     Gx: columns -1 0 1 times rows 1 2 1     Gy: the same transposed
Matrix sobel(const Matrix& image) {
  Matrix edges(image.rows, image.columns);
  for (std::int64_t y = 0; y < image.rows; ++y) {
    for (std::int64_t x = 0; x < image.columns; ++x) {
      const auto at = [&](std::int64_t dy, std::int64_t dx) {
        return image(std::clamp<std::int64_t>(y + dy, 0, image.rows - 1),
                     std::clamp<std::int64_t>(x + dx, 0, image.columns - 1));
      };
      double across = 0, down = 0;
      for (const std::int64_t side : {-1, 0, 1}) {
        const double weight = side == 0 ? 2 : 1;
        across += weight * (at(side, 1) - at(side, -1));
        down += weight * (at(1, side) - at(-1, side));
      }
      edges(y, x) = std::hypot(across, down);
    }
  }
  return edges;
}

Hog hog(const Matrix& image, std::int64_t cell) {
  Hog result{.cell = cell, .rows = image.rows / cell, .columns = image.columns / cell};
  const std::int64_t orientations = Hog::kOrientations;
  result.cells.assign(static_cast<std::size_t>(result.rows * result.columns * orientations), 0.0);
  // Gradients by central differences, 0 at the border; each counts for its cell and orientation.
  for (std::int64_t y = 0; y < result.rows * cell; ++y) {
    for (std::int64_t x = 0; x < result.columns * cell; ++x) {
      const double down = y == 0 || y == image.rows - 1 ? 0 : image(y + 1, x) - image(y - 1, x);
      const double across = x == 0 || x == image.columns - 1 ? 0 : image(y, x + 1) - image(y, x - 1);
      double degrees = std::atan2(down, across) * 180 / std::numbers::pi;
      if (degrees < 0) degrees += 180;
      if (degrees >= 180) degrees -= 180;
      const auto orientation = std::min(
          static_cast<std::int64_t>(degrees * static_cast<double>(orientations) / 180), orientations - 1);
      const std::int64_t place = (y / cell) * result.columns + x / cell;
      result.cells[static_cast<std::size_t>(place * orientations + orientation)] +=
          std::hypot(down, across) / static_cast<double>(cell * cell);
    }
  }
  return result;
}

}  // namespace convoke::explore
