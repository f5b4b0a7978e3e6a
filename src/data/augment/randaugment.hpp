#pragma once
#include "augmentation.hpp"

namespace convoke::data {

/// Draws operations uniformly from a list of 14, all of one magnitude, as torchvision's RandAugment (31
/// magnitudes). Operations that move pixels join the warp, which comes first.
bool wants_randaugment(const AugmentOptions& options);
void draw_randaugment(const AugmentOptions& options, const Shape& image, RandomStream& random,
                      Change& change);

}  // namespace convoke::data
