#include "augmentation.hpp"

#include "color.hpp"

namespace convoke::data {
namespace {

constexpr std::array kAugmentations{Augmentation{"crop", wants_crop, draw_crop},
                                    Augmentation{"affine", wants_affine, draw_affine},
                                    Augmentation{"flip", wants_flip, draw_flip},
                                    Augmentation{"color", wants_color, draw_color},
                                    Augmentation{"randaugment", wants_randaugment, draw_randaugment},
                                    Augmentation{"cutout", wants_cutout, draw_cutout}};

}  // namespace

std::span<const Augmentation> augmentations() { return kAugmentations; }

double draw_from(const Interval& interval, RandomStream& random) {
  return interval[0] + (interval[1] - interval[0]) * random.uniform();
}
double draw_around(double range, RandomStream& random) { return range * (2 * random.uniform() - 1); }

}  // namespace convoke::data
