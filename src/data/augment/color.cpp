#include "color.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "convoke/core/multiversion.hpp"

namespace convoke::data {
namespace {

constexpr float kHighest = 255;
const Interval kNoChange{1, 1};

[[gnu::always_inline]] inline float clamped(float v) { return std::min(std::max(v, 0.0F), kHighest); }

//   v = clamp(gain v + shift, low, high)
CONVOKE_MULTIVERSION
void scale_values(float* values, std::size_t n, float gain, float shift, float low, float high) {
  for (std::size_t i = 0; i < n; ++i) values[i] = std::min(std::max(gain * values[i] + shift, low), high);
}

// ITU-R 601, with the digits that torchvision uses.
[[gnu::always_inline]] inline float gray(float red, float green, float blue) {
  return 0.2989F * red + 0.587F * green + 0.114F * blue;
}

// Adds up a row in kLanes partial sums, so that the compiler makes a vector loop; each then goes into a
// double.
constexpr std::size_t kLanes = 16;
CONVOKE_MULTIVERSION
double sum_of(const float* values, std::size_t n) {
  double sum = 0;
  for (std::size_t from = 0; from < n; from += 4096) {
    const std::size_t end = std::min(n, from + 4096), whole = from + (end - from) / kLanes * kLanes;
    float part[kLanes] = {};
    for (std::size_t i = from; i < whole; i += kLanes)
      for (std::size_t k = 0; k < kLanes; ++k) part[k] += values[i + k];
    for (std::size_t i = whole; i < end; ++i) part[0] += values[i];
    for (const float p : part) sum += static_cast<double>(p);
  }
  return sum;
}

struct Extremes {
  float least, largest;
};
CONVOKE_MULTIVERSION
Extremes extremes_of(const float* values, std::size_t n) {
  float least[kLanes], largest[kLanes];
  std::fill_n(least, kLanes, values[0]);
  std::fill_n(largest, kLanes, values[0]);
  const std::size_t whole = n / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      least[k] = std::min(least[k], values[i + k]);
      largest[k] = std::max(largest[k], values[i + k]);
    }
  }
  Extremes all{*std::min_element(least, least + kLanes), *std::max_element(largest, largest + kLanes)};
  for (std::size_t i = whole; i < n; ++i) {
    all = {std::min(all.least, values[i]), std::max(all.largest, values[i])};
  }
  return all;
}

double mean_of_gray(const Planes& image) {
  const auto pixels = static_cast<double>(image.pixels());
  if (image.channels != 3)
    return sum_of(image.values, image.pixels() * image.channels) /
           (pixels * static_cast<double>(image.channels));
  return (0.2989 * sum_of(image.channel(0), image.pixels()) +
          0.587 * sum_of(image.channel(1), image.pixels()) +
          0.114 * sum_of(image.channel(2), image.pixels())) /
         pixels;
}

CONVOKE_MULTIVERSION
void saturate(float* red, float* green, float* blue, std::size_t pixels, float amount) {
  for (std::size_t i = 0; i < pixels; ++i) {
    const float rest = (1 - amount) * gray(red[i], green[i], blue[i]);
    red[i] = clamped(amount * red[i] + rest);
    green[i] = clamped(amount * green[i] + rest);
    blue[i] = clamped(amount * blue[i] + rest);
  }
}

// Convert to hue (in sixths of a turn), saturation and value, and back: with k = (n + hue) mod 6,
//   channel(n) = value - range max(0, min(k, 4 - k, 1)),   n = 5, 3, 1 for red, green, blue
[[gnu::always_inline]] inline float channel_of(float n, float hue, float value, float range) {
  float k = n + hue;
  k = k >= 6 ? k - 6 : k;
  return value - range * std::max(0.0F, std::min(std::min(k, 4 - k), 1.0F));
}
CONVOKE_MULTIVERSION
void turn_hue(float* red, float* green, float* blue, std::size_t pixels, float sixths) {
  for (std::size_t i = 0; i < pixels; ++i) {
    const float r = red[i], g = green[i], b = blue[i];
    const float value = std::max(std::max(r, g), b), range = value - std::min(std::min(r, g), b);
    const float part = 1 / (range > 0 ? range : 1.0F);
    float hue = 4 + (r - g) * part;
    hue = value == g ? 2 + (b - r) * part : hue;
    hue = value == r ? (g - b) * part : hue;
    hue += sixths;  // -1..5, changed by up to 3 to both sides
    hue = hue < 0 ? hue + 6 : hue;
    hue = hue >= 6 ? hue - 6 : hue;
    red[i] = channel_of(5, hue, value, range);
    green[i] = channel_of(3, hue, value, range);
    blue[i] = channel_of(1, hue, value, range);
  }
}

CONVOKE_MULTIVERSION
void posterize_values(float* values, std::size_t n, std::int32_t mask) {
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<float>(static_cast<std::int32_t>(values[i] + 0.5F) & mask);
}

CONVOKE_MULTIVERSION
void solarize_values(float* values, std::size_t n, float threshold) {
  for (std::size_t i = 0; i < n; ++i) values[i] = values[i] >= threshold ? kHighest - values[i] : values[i];
}

// One row of a 3 x 3 mean that counts its middle five times, mixed into `row`; above, here and below are the
// unchanged rows.
CONVOKE_MULTIVERSION
void sharpen_row(const float* above, const float* here, const float* below, float* row, std::size_t width,
                 float amount) {
  for (std::size_t x = 1; x + 1 < width; ++x) {
    const float around = above[x - 1] + above[x] + above[x + 1] + here[x - 1] + here[x + 1] + below[x - 1] +
                         below[x] + below[x + 1];
    const float smooth = (around + 5 * here[x]) / 13;
    row[x] = clamped(amount * here[x] + (1 - amount) * smooth);
  }
}

}  // namespace

bool wants_color(const AugmentOptions& options) {
  return options.channel_shift_range != 0 || options.brightness_range != kNoChange ||
         options.contrast_range != kNoChange || options.saturation_range != kNoChange ||
         options.hue_range != 0;
}

void draw_color(const AugmentOptions& options, const Shape&, RandomStream& random, Change& change) {
  const auto step = [&](bool wanted, auto* apply, double amount) {
    if (wanted) change.add({apply, static_cast<float>(amount)});
  };
  // Draws every number, even if it is not used, so that one setting does not change the effect of the others.
  step(options.channel_shift_range != 0, shift_channels, draw_around(options.channel_shift_range, random));
  step(options.brightness_range != kNoChange, adjust_brightness, draw_from(options.brightness_range, random));
  step(options.contrast_range != kNoChange, adjust_contrast, draw_from(options.contrast_range, random));
  step(options.saturation_range != kNoChange, adjust_saturation, draw_from(options.saturation_range, random));
  step(options.hue_range != 0, adjust_hue, draw_around(options.hue_range, random));
}

void adjust_brightness(const Planes& image, float amount) {
  scale_values(image.values, image.channels * image.pixels(), amount, 0, 0, kHighest);
}

void adjust_contrast(const Planes& image, float amount) {
  const auto rest = static_cast<float>((1 - static_cast<double>(amount)) * mean_of_gray(image));
  scale_values(image.values, image.channels * image.pixels(), amount, rest, 0, kHighest);
}

void adjust_saturation(const Planes& image, float amount) {
  if (image.channels != 3) return;
  saturate(image.channel(0), image.channel(1), image.channel(2), image.pixels(), amount);
}

void adjust_hue(const Planes& image, float amount) {
  if (image.channels != 3) return;
  turn_hue(image.channel(0), image.channel(1), image.channel(2), image.pixels(), 6 * amount);
}

void shift_channels(const Planes& image, float amount) {
  const std::size_t n = image.channels * image.pixels();
  const Extremes within = extremes_of(image.values, n);
  scale_values(image.values, n, 1, amount, within.least, within.largest);
}

void adjust_sharpness(const Planes& image, float amount) {
  thread_local std::vector<float> kept;  // two unchanged rows; grows once
  kept.resize(std::max(kept.size(), 2 * image.width));
  if (image.height < 3 || image.width < 3) return;
  for (std::size_t c = 0; c < image.channels; ++c) {
    float* above = kept.data();
    float* here = kept.data() + image.width;
    std::copy_n(image.channel(c), image.width, above);
    for (std::size_t y = 1; y + 1 < image.height; ++y) {
      float* const row = image.channel(c) + y * image.width;
      std::copy_n(row, image.width, here);
      sharpen_row(above, here, row + image.width, row, image.width, amount);
      std::swap(above, here);
    }
  }
}

void posterize(const Planes& image, float amount) {
  const auto bits = static_cast<int>(amount);
  posterize_values(image.values, image.channels * image.pixels(), 256 - (1 << (8 - bits)));
}

void solarize(const Planes& image, float amount) {
  solarize_values(image.values, image.channels * image.pixels(), amount);
}

void autocontrast(const Planes& image, float) {
  for (std::size_t c = 0; c < image.channels; ++c) {
    const Extremes found = extremes_of(image.channel(c), image.pixels());
    if (found.largest <= found.least) continue;
    const float gain = kHighest / (found.largest - found.least);
    scale_values(image.channel(c), image.pixels(), gain, -gain * found.least, 0, kHighest);
  }
}

// With the number of values up to v, and the step that spreads all values except those equal to the largest
// over 255:
//   lut[v] = (step / 2 + count of values below v) / step
void equalize(const Planes& image, float) {
  for (std::size_t c = 0; c < image.channels; ++c) {
    float* const values = image.channel(c);
    const auto level = [&](std::size_t i) { return static_cast<std::size_t>(clamped(values[i]) + 0.5F); };
    std::array<std::size_t, 256> counts{};
    for (std::size_t i = 0; i < image.pixels(); ++i) ++counts[level(i)];
    std::size_t last = 255;
    while (last > 0 && counts[last] == 0) --last;
    const std::size_t step = (image.pixels() - counts[last]) / 255;
    if (step == 0) continue;
    std::array<float, 256> table;
    std::size_t below = step / 2;
    for (std::size_t v = 0; v < 256; ++v) {
      table[v] = static_cast<float>(std::min<std::size_t>(below / step, 255));
      below += counts[v];
    }
    for (std::size_t i = 0; i < image.pixels(); ++i) values[i] = table[level(i)];
  }
}

void normalize(const Planes& image, const float* scale, const float* shift) {
  constexpr float kAny = std::numeric_limits<float>::infinity();
  for (std::size_t c = 0; c < image.channels; ++c)
    scale_values(image.channel(c), image.pixels(), scale[c], shift[c], -kAny, kAny);
}

}  // namespace convoke::data
