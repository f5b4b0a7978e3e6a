#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/core/random.hpp"
#include "convoke/core/shape.hpp"
#include "convoke/data/affine_map.hpp"
#include "convoke/data/augment_options.hpp"

// What is drawn for a sample, by one augmentation after the other, and then carried out at once.

namespace convoke::data {

/// An image as it becomes a sample: (channels, height, width) floats of 0..255.
struct Planes {
  float* values = nullptr;
  std::size_t channels = 0, height = 0, width = 0;

  std::size_t pixels() const { return height * width; }
  float* channel(std::size_t c) const { return values + c * pixels(); }
};

/// A change of colours, in place; `amount` means what the step says.
struct ColourStep {
  void (*apply)(const Planes& image, float amount) = nullptr;
  float amount = 0;
};

/// Pixels [top, bottom) x [left, right).
struct Box {
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;
};

/// What becomes of one sample.
class Change {
 public:
  AffineMap map;  ///< from the output to the source
  Box hole;       ///< that is set to 0 in the end

  /// `next` acts on what came so far.
  void move(const AffineMap& next) { map = map * next; }
  void add(ColourStep step) {
    ensure(count_ < steps_.size(), "a sample has at most 24 changes of colour");
    steps_[count_++] = step;
  }
  std::span<const ColourStep> colours() const { return {steps_.data(), count_}; }

 private:
  std::array<ColourStep, 24> steps_;
  std::size_t count_ = 0;
};

/// An augmentation draws its numbers from the sample's stream and says what they change. `image`: (C, H, W).
struct Augmentation {
  std::string_view name;
  bool (*wanted)(const AugmentOptions& options);
  void (*draw)(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);
};

/// All of them, in the order in which they act.
std::span<const Augmentation> augmentations();

/// Evenly from [low, high).
double draw_from(const Interval& interval, RandomStream& random);
/// Evenly from [-range, range).
double draw_around(double range, RandomStream& random);

}  // namespace convoke::data
