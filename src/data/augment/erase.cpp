#include "data/augment/augmentation.hpp"

#include <algorithm>

namespace convoke::data {

bool wants_cutout(const AugmentOptions& options) { return options.cutout > 0; }

void draw_cutout(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change) {
  const auto row = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(image[1])));
  const auto column = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(image[2])));
  change.hole = box_around(row, column, options.cutout, options.cutout, image);
}

Box box_around(std::int64_t row, std::int64_t column, std::int64_t height, std::int64_t width,
               const Shape& image) {
  const std::int64_t top = row - height / 2, left = column - width / 2;
  return {std::clamp<std::int64_t>(top, 0, image[1]), std::clamp<std::int64_t>(left, 0, image[2]),
          std::clamp<std::int64_t>(top + height, 0, image[1]),
          std::clamp<std::int64_t>(left + width, 0, image[2])};
}

void erase(const Planes& image, const Box& hole) {
  const auto columns = static_cast<std::size_t>(hole.right - hole.left);
  for (std::size_t c = 0; c < image.channels; ++c) {
    for (std::int64_t row = hole.top; row < hole.bottom; ++row) {
      const auto first = static_cast<std::size_t>(row) * image.width + static_cast<std::size_t>(hole.left);
      std::fill_n(image.channel(c) + first, columns, 0.0F);
    }
  }
}

}  // namespace convoke::data
