#include "convoke/data_prep/pictures/resize.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/multiversion.hpp"

namespace convoke::data_prep {
namespace {

/// The inputs of each output along one axis: inputs first, first + 1, ..., and their weights, which sum to 1.
struct Taps {
  std::vector<std::int64_t> first;  // (out)
  std::vector<std::size_t> begin;   // (out + 1): offset of its weights
  std::vector<float> weights;

  std::size_t count(std::size_t o) const { return begin[o + 1] - begin[o]; }
  const float* of(std::size_t o) const { return weights.data() + begin[o]; }
  /// The inputs of all outputs: [first, second). An output in the middle of an input has only this one, so
  /// the next output may begin before it.
  std::pair<std::int64_t, std::int64_t> range() const {
    std::int64_t end = 0;
    for (std::size_t o = 0; o < first.size(); ++o)
      end = std::max(end, first[o] + static_cast<std::int64_t>(count(o)));
    return {*std::min_element(first.begin(), first.end()), end};
  }
};

double overlap(double low, double high, std::int64_t pixel) {
  const auto start = static_cast<double>(pixel);
  return std::max(0.0, std::min(high, start + 1) - std::max(low, start));
}

// R. G. Keys, "Cubic convolution interpolation for digital image processing", IEEE ASSP 29, 1981: a = -1/2.
double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

// Output o covers [low + o s, low + (o + 1) s) of the inputs, s = (high - low) / out.
//   s >= 1: weight of input i = its overlap with that
//   s < 1:  weight of input i = cubic(i + 1/2 - (low + (o + 1/2) s))
Taps taps_of(std::int64_t in, double low, double high, std::int64_t out) {
  const double s = (high - low) / static_cast<double>(out);
  Taps taps;
  taps.begin.push_back(0);
  for (std::int64_t o = 0; o < out; ++o) {
    const double from =
        s >= 1 ? low + static_cast<double>(o) * s : low + (static_cast<double>(o) + 0.5) * s - 2;
    const double to = s >= 1 ? low + static_cast<double>(o + 1) * s : from + 4;
    const auto weight = [&](std::int64_t i) {
      return s >= 1 ? overlap(from, to, i) : cubic(static_cast<double>(i) + 0.5 - (from + 2));
    };
    // Rounding of the bounds must not add inputs with negligible weights.
    constexpr double kNegligible = 1e-6;
    std::int64_t first = std::clamp<std::int64_t>(std::llround(std::floor(from)), 0, in - 1);
    std::int64_t last = std::clamp<std::int64_t>(std::llround(std::ceil(to)), first + 1, in);
    while (first + 1 < last && std::abs(weight(first)) < kNegligible) ++first;
    while (first + 1 < last && std::abs(weight(last - 1)) < kNegligible) --last;
    double sum = 0;
    for (std::int64_t i = first; i < last; ++i) sum += weight(i);
    for (std::int64_t i = first; i < last; ++i) taps.weights.push_back(static_cast<float>(weight(i) / sum));
    taps.first.push_back(first);
    taps.begin.push_back(taps.weights.size());
  }
  return taps;
}

// sums[i] = sum over k of weights[k] rows[k][i], rows `stride` bytes apart, i < n.
CONVOKE_MULTIVERSION
void add_rows(const std::uint8_t* rows, std::int64_t stride, const float* weights, std::size_t count,
              float* sums, std::size_t n) {
  std::size_t k = 0;
  if (count >= 4) {
    const std::uint8_t *a = rows, *b = a + stride, *c = b + stride, *d = c + stride;
    const float wa = weights[0], wb = weights[1], wc = weights[2], wd = weights[3];
    for (std::size_t i = 0; i < n; ++i) {
      sums[i] = wa * static_cast<float>(a[i]) + wb * static_cast<float>(b[i]) +
                wc * static_cast<float>(c[i]) + wd * static_cast<float>(d[i]);
    }
    for (k = 4; k + 4 <= count; k += 4) {
      a = rows + static_cast<std::int64_t>(k) * stride, b = a + stride, c = b + stride, d = c + stride;
      const float va = weights[k], vb = weights[k + 1], vc = weights[k + 2], vd = weights[k + 3];
      for (std::size_t i = 0; i < n; ++i) {
        sums[i] += va * static_cast<float>(a[i]) + vb * static_cast<float>(b[i]) +
                   vc * static_cast<float>(c[i]) + vd * static_cast<float>(d[i]);
      }
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) sums[i] = 0;
  }
  for (; k < count; ++k) {
    const std::uint8_t* const row = rows + static_cast<std::int64_t>(k) * stride;
    const float w = weights[k];
    for (std::size_t i = 0; i < n; ++i) sums[i] += w * static_cast<float>(row[i]);
  }
}

CONVOKE_MULTIVERSION
void round_row(const float* sums, std::uint8_t* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<std::uint8_t>(std::min(std::max(sums[i] + 0.5F, 0.0F), 255.0F));
  }
}

// out[x][c] = sum over k of weights[x][k] sums[first[x] + k - start][c], c < Channels.
template <std::size_t Channels>
[[gnu::always_inline]] inline void add_columns_of(const float* sums, std::int64_t start, const Taps& taps,
                                                  std::uint8_t* out, std::size_t width) {
  for (std::size_t x = 0; x < width; ++x) {
    const float* in = sums + static_cast<std::size_t>(taps.first[x] - start) * Channels;
    const float* const weights = taps.of(x);
    float values[Channels] = {};
    for (std::size_t k = 0; k < taps.count(x); ++k, in += Channels) {
      for (std::size_t c = 0; c < Channels; ++c) values[c] += weights[k] * in[c];
    }
    for (std::size_t c = 0; c < Channels; ++c) {
      out[x * Channels + c] = static_cast<std::uint8_t>(std::min(std::max(values[c] + 0.5F, 0.0F), 255.0F));
    }
  }
}

CONVOKE_MULTIVERSION
void add_columns(const float* sums, std::int64_t start, const Taps& taps, std::uint8_t* out,
                 std::size_t width, std::int64_t channels) {
  if (channels == 1) return add_columns_of<1>(sums, start, taps, out, width);
  add_columns_of<3>(sums, start, taps, out, width);
}

}  // namespace

void resize(const Image& image, const Box& box, const PictureSize& size, std::uint8_t* out,
            std::int64_t stride) {
  ensure(image.channels == 1 || image.channels == 3, "a picture is gray or RGB");
  ensure(size.height > 0 && size.width > 0 && box.top >= 0 && box.left >= 0 && box.top < box.bottom &&
             box.left < box.right && box.bottom <= static_cast<double>(image.height) &&
             box.right <= static_cast<double>(image.width),
         "the part that is resized lies within the picture");
  const Taps down = taps_of(image.height, box.top, box.bottom, size.height);
  const Taps across = taps_of(image.width, box.left, box.right, size.width);
  const std::int64_t channels = image.channels, row = image.width * channels;
  const auto height = static_cast<std::size_t>(size.height), width = static_cast<std::size_t>(size.width);
  const auto [left, right] = across.range();
  const std::uint8_t* const in = image.values.data() + left * channels;
  std::vector<float> sums(static_cast<std::size_t>((right - left) * channels));

  // Reduces: adds up rows first. The pixels of a row are adjacent in memory, and little work is left for the
  // columns.
  if (box.bottom - box.top >= static_cast<double>(size.height)) {
    for (std::size_t y = 0; y < height; ++y) {
      add_rows(in + down.first[y] * row, row, down.of(y), down.count(y), sums.data(), sums.size());
      add_columns(sums.data(), left, across, out + static_cast<std::int64_t>(y) * stride, width, channels);
    }
    return;
  }
  // Enlarges: columns first, rounded and clamped to bytes between the passes as in Pillow.
  const auto [top, bottom] = down.range();
  const std::int64_t out_row = size.width * channels;
  std::vector<std::uint8_t> between(static_cast<std::size_t>((bottom - top) * out_row));
  const float whole = 1;
  for (std::int64_t y = top; y < bottom; ++y) {
    add_rows(in + y * row, row, &whole, 1, sums.data(), sums.size());
    add_columns(sums.data(), left, across, between.data() + (y - top) * out_row, width, channels);
  }
  sums.resize(static_cast<std::size_t>(out_row));
  for (std::size_t y = 0; y < height; ++y) {
    add_rows(between.data() + (down.first[y] - top) * out_row, out_row, down.of(y), down.count(y),
             sums.data(), sums.size());
    round_row(sums.data(), out + static_cast<std::int64_t>(y) * stride, sums.size());
  }
}

Image resize(const Image& image, const PictureSize& size) {
  if (image.extent() == size) return image;
  Image resized{size.height, size.width, image.channels, {}};
  resized.values.resize(static_cast<std::size_t>(size.height * size.width * image.channels));
  resize(image, image.content(), size, resized.values.data(), size.width * image.channels);
  return resized;
}

}  // namespace convoke::data_prep
