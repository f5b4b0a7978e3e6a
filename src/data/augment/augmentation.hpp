#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "convoke/core/error.hpp"
#include "convoke/core/random.hpp"
#include "convoke/core/shape.hpp"
#include "convoke/data/augment_options.hpp"
#include "convoke/data/augmenter.hpp"
#include "convoke/data/warp.hpp"

// The changes to a sample: each augmentation draws its own, and then all are made at once.

// Augmentations that move pixels; see AugmentOptions.

namespace convoke::data {

/// An image on its way to a sample: (channels, height, width) floats of 0..255.
struct Planes {
  float* values = nullptr;
  std::size_t channels = 0, height = 0, width = 0;

  std::size_t pixels() const { return height * width; }
  float* channel(std::size_t c) const { return values + c * pixels(); }
};

/// A change of colors, in place; the step defines the meaning of `amount`.
struct ColorStep {
  void (*apply)(const Planes& image, float amount) = nullptr;
  float amount = 0;
};

/// Pixels [top, bottom) x [left, right).
struct Box {
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;
};

/// All changes to one sample.
class Change {
 public:
  AffineMap map;  ///< from the output to the source
  Box hole;       ///< set to 0 at the end

  /// Applies `next` after the moves so far.
  void move(const AffineMap& next) { map = map * next; }
  void add(ColorStep step) {
    ensure(count_ < steps_.size(), "a sample has at most 24 changes of color");
    steps_[count_++] = step;
  }
  std::span<const ColorStep> colors() const { return {steps_.data(), count_}; }

 private:
  std::array<ColorStep, 24> steps_;
  std::size_t count_ = 0;
};

/// An augmentation draws its numbers from the sample's stream and records the changes. `image`: (C, H, W).
struct Augmentation {
  bool (*wanted)(const AugmentOptions& options);
  void (*draw)(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);
};

/// All augmentations, in the order in which they act.
std::span<const Augmentation> augmentations();

/// Draws uniformly from [low, high).
inline double draw_from(const Interval& interval, RandomStream& random) {
  return interval[0] + (interval[1] - interval[0]) * random.uniform();
}
/// Draws uniformly from [-range, range).
inline double draw_around(double range, RandomStream& random) { return range * (2 * random.uniform() - 1); }

/// A crop of another size, stretched to the image's, or of the same size, moved.
bool wants_crop(const AugmentOptions& options);
void draw_crop(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);

/// Rotation, shifts, shear and zoom, as Keras's ImageDataGenerator draws and composes them.
bool wants_affine(const AugmentOptions& options);
void draw_affine(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);

bool wants_flip(const AugmentOptions& options);
void draw_flip(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);

/// Cut-out: a square of zeros (of the network's input) anywhere in the image, cut off at the edges.
bool wants_cutout(const AugmentOptions& options);
void draw_cutout(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);

/// Returns the box of `height` x `width` pixels around (row, column), within an image (C, H, W).
Box box_around(std::int64_t row, std::int64_t column, std::int64_t height, std::int64_t width,
               const Shape& image);

/// Sets the pixels of the box to 0, in all channels.
void erase(const Planes& image, const Box& hole);

/// Mixes the samples of one micro-batch in pairs, in place; see Augmenter::mix. Both samples of a pair get
/// the same share of the other, as in timm. `first`: the place of the micro-batch's first sample among those
/// that are loaded.
void mix_micro_batch(const AugmentOptions& options, const Shape& image, const ViewKey& view,
                     std::size_t first, std::span<const std::uint32_t> ids, std::span<float> pictures,
                     const Targets& targets);

/// Draws operations uniformly from a list of 14, all of one magnitude, as torchvision's RandAugment (31
/// magnitudes). Operations that move pixels join the warp, which comes first.
bool wants_randaugment(const AugmentOptions& options);
void draw_randaugment(const AugmentOptions& options, const Shape& image, RandomStream& random,
                      Change& change);

}  // namespace convoke::data
