#pragma once
#include "augmentation.hpp"

namespace convoke::data {

/// Cut-out: a square of zeros (of the network's input) anywhere in the image, cut off at the edges.
bool wants_cutout(const AugmentOptions& options);
void draw_cutout(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);

/// Returns the box of `height` x `width` pixels around (row, column), within an image (C, H, W).
Box box_around(std::int64_t row, std::int64_t column, std::int64_t height, std::int64_t width,
               const Shape& image);

/// Sets the pixels of the box to 0, in all channels.
void erase(const Planes& image, const Box& hole);

}  // namespace convoke::data
