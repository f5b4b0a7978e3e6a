#include "data/augment/augmentation.hpp"

#include <cmath>

#include "color.hpp"

namespace convoke::data {
namespace {

/// An operation's arguments: its strength (0..1 of its range), its sign and its target.
struct Stroke {
  double strength, sign;
  const Shape& image;
};

struct Operation {
  std::string_view name;
  void (*apply)(const Stroke& stroke, Change& change);
};

double extent(const Stroke& stroke, std::size_t axis) { return static_cast<double>(stroke.image[axis]); }

// Ranges of torchvision 0.29, transforms/autoaugment.py.
constexpr double kShear = 0.3, kTranslate = 150.0 / 331, kRotate = 30, kEnhance = 0.9, kPosterize = 4;

template <auto adjust>
void enhance(const Stroke& stroke, Change& change) {
  change.add({adjust, static_cast<float>(1 + stroke.sign * stroke.strength * kEnhance)});
}

constexpr std::array kOperations{
    Operation{"identity", [](const Stroke&, Change&) {}},
    Operation{"shear_x", [](const Stroke& s, Change& c) { c.move({.xy = s.sign * s.strength * kShear}); }},
    Operation{"shear_y", [](const Stroke& s, Change& c) { c.move({.yx = s.sign * s.strength * kShear}); }},
    Operation{"translate_x",
              [](const Stroke& s, Change& c) {
                c.move({.x0 = std::trunc(s.sign * s.strength * kTranslate * extent(s, 2))});
              }},
    Operation{"translate_y",
              [](const Stroke& s, Change& c) {
                c.move({.y0 = std::trunc(s.sign * s.strength * kTranslate * extent(s, 1))});
              }},
    Operation{"rotate",
              [](const Stroke& s, Change& c) {
                c.move(affine_map({.theta = s.sign * s.strength * kRotate}, extent(s, 1), extent(s, 2)));
              }},
    Operation{"brightness", enhance<adjust_brightness>},
    Operation{"color", enhance<adjust_saturation>},
    Operation{"contrast", enhance<adjust_contrast>},
    Operation{"sharpness", enhance<adjust_sharpness>},
    Operation{"posterize",
              [](const Stroke& s, Change& c) {
                c.add({posterize, static_cast<float>(8 - std::nearbyint(s.strength * kPosterize))});
              }},
    Operation{"solarize",
              [](const Stroke& s, Change& c) {
                c.add({solarize, static_cast<float>(255 * (1 - s.strength))});
              }},
    Operation{"autocontrast",
              [](const Stroke&, Change& c) {
                c.add({autocontrast, 0});
              }},
    Operation{"equalize", [](const Stroke&, Change& c) {
                c.add({equalize, 0});
              }}};

}  // namespace

bool wants_randaugment(const AugmentOptions& options) { return options.randaugment > 0; }

void draw_randaugment(const AugmentOptions& options, const Shape& image, RandomStream& random,
                      Change& change) {
  for (std::int64_t i = 0; i < options.randaugment; ++i) {
    const std::uint64_t draw = random.below(2 * kOperations.size());
    kOperations[draw / 2].apply({.strength = static_cast<double>(options.randaugment_magnitude) / 30,
                                 .sign = draw % 2 == 0 ? 1.0 : -1.0,
                                 .image = image},
                                change);
  }
}

}  // namespace convoke::data
