#include "synthesize/canvas.hpp"

#include <array>
#include <cassert>
#include <functional>
#include <numbers>

// Renamed, because programs that link Convoke would see the library's names.
#define stb_perlin_noise3 convoke_perlin_noise3
#define stb_perlin_noise3_seed convoke_perlin_noise3_seed
#define stb_perlin_noise3_internal convoke_perlin_noise3_internal
#define stb_perlin_noise3_wrap_nonpow2 convoke_perlin_noise3_wrap_nonpow2
#define stb_perlin_ridge_noise3 convoke_perlin_ridge_noise3
#define stb_perlin_fbm_noise3 convoke_perlin_fbm_noise3
#define stb_perlin_turbulence_noise3 convoke_perlin_turbulence_noise3
#define STB_PERLIN_IMPLEMENTATION
#include <stb/stb_perlin.h>

namespace convoke::data_prep {

Point rotated(Point a, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c * a.x - s * a.y, s * a.x + c * a.y};
}

// A. R. Smith, "Color gamut transform pairs", SIGGRAPH 1978.
Color hsv(double hue, double saturation, double value) {
  const auto channel = [&](double n) {
    const double k = std::fmod(n + 6 * (hue - std::floor(hue)), 6.0);
    return static_cast<float>(value * (1 - saturation * std::clamp(std::min(k, 4 - k), 0.0, 1.0)));
  };
  return {channel(5), channel(3), channel(1)};
}

Texture::Texture(RandomStream& random, double scale, int octaves)
    : scale_(scale),
      octaves_(octaves),
      offset_{between(random, 0, 256), between(random, 0, 256)},
      slice_(between(random, 0, 256)) {}

double Texture::at(Point p) const {
  return 1.5 * stb_perlin_fbm_noise3(static_cast<float>(offset_.x + p.x / scale_),
                                     static_cast<float>(offset_.y + p.y / scale_), static_cast<float>(slice_),
                                     2.0F, 0.5F, octaves_);
}

void Mask::add_disc(Point middle, double radius, double softness) {
  add(middle, radius, softness, [=](Point p) { return length(p - middle) - radius; });
}

void Mask::add_ellipse(Point middle, double along, double across, double angle, double softness) {
  // The distance to first order: (|q| - 1) |q| / |grad|, where q is p in half axes.
  add(middle, std::max(along, across), softness, [=](Point p) {
    const Point local = rotated(p - middle, -angle);
    const Point q{local.x / along, local.y / across};
    const double norm = length(q), slope = length({q.x / along, q.y / across});
    return slope > 1e-9 ? (norm - 1) * norm / slope : -std::min(along, across);
  });
}

void Mask::add_stroke(std::span<const Point> points, double begin, double end, double softness) {
  assert(points.size() >= 2);
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const auto parts = static_cast<double>(points.size() - 1);
    const double from = std::lerp(begin, end, static_cast<double>(i) / parts) / 2;
    const double to = std::lerp(begin, end, static_cast<double>(i + 1) / parts) / 2;
    const Point a = points[i], along = points[i + 1] - a;
    const double squared = std::max(dot(along, along), 1e-12);
    add(a + 0.5 * along, length(along) / 2 + std::max(from, to), softness, [=](Point p) {
      const double t = std::clamp(dot(p - a, along) / squared, 0.0, 1.0);
      return length(p - a - t * along) - std::lerp(from, to, t);
    });
  }
}

void Mask::limit(const Mask& other) {
  std::transform(coverage_.begin(), coverage_.end(), other.coverage_.begin(), coverage_.begin(),
                 std::multiplies<>());
}

float Mask::at(Point p) const {
  const double row = std::floor(p.y / pixel() + 0.5 * height_),
               column = std::floor(p.x / pixel() + 0.5 * width_);
  if (row < 0 || row >= height_ || column < 0 || column >= width_) return 0;
  return at(static_cast<int>(row), static_cast<int>(column));
}

Canvas::Canvas(std::int64_t height, std::int64_t width)
    : height_(static_cast<int>(height)),
      width_(static_cast<int>(width)),
      colors_(static_cast<std::size_t>(height * width)) {
  assert(height > 0 && width > 0);
}

void Canvas::photograph(RandomStream& random, double blur, double noise) {
  // (1 - 2 w, w, w) along rows, then columns; the blur has variance 2 w, at most that of a box.
  const double side = std::min(blur * blur / 2, 1.0 / 3);
  const auto soften = [&](int count, int step, std::size_t first) {
    Color before = colors_[first];
    for (int i = 0; i < count; ++i) {
      Color& here = colors_[first + static_cast<std::size_t>(i) * static_cast<std::size_t>(step)];
      const Color after = i + 1 < count ? *(&here + step) : here;
      const Color old = here;
      here = (1 - 2 * side) * old + side * (before + after);
      before = old;
    }
  };
  for (int row = 0; row < height_; ++row) {
    soften(width_, 1, static_cast<std::size_t>(row) * static_cast<std::size_t>(width_));
  }
  for (int column = 0; column < width_; ++column) soften(height_, width_, static_cast<std::size_t>(column));

  // The sum of the four bytes of a word is nearly normal: mean 510, standard deviation sqrt(4 (256^2 - 1) /
  // 12).
  const auto grain = [&] {
    const std::uint32_t word = random.next_word();
    const double sum = (word & 0xFF) + (word >> 8 & 0xFF) + (word >> 16 & 0xFF) + (word >> 24);
    return static_cast<float>(noise * (sum - 510) / 147.8);
  };
  for (Color& color : colors_) color = color + Color{grain(), grain(), grain()};
}

Image Canvas::image() const {
  Image image{height_, width_, 3, {}};
  image.values.reserve(colors_.size() * 3);
  for (const Color& color : colors_) {
    for (const float value : std::array{color.red, color.green, color.blue}) {
      image.values.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0F, 1.0F))));
    }
  }
  return image;
}

}  // namespace convoke::data_prep
