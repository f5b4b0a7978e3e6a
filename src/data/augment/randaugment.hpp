#pragma once
#include "augmentation.hpp"

namespace convoke::data {

/// Some operations of a list of 14, each as likely as the others, all of one magnitude, as torchvision's
/// RandAugment (31 magnitudes). Those that move pixels join the warp, which comes first.
bool wants_randaugment(const AugmentOptions& options);
void draw_randaugment(const AugmentOptions& options, const Shape& image, RandomStream& random,
                      Change& change);

}  // namespace convoke::data
