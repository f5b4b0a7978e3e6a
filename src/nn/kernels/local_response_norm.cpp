#include "nn/kernels/local_response_norm.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::nn {
namespace {

/// The offset of each channel of a pixel.
struct Pixel {
  const ChannelBlocks& s;
  std::int64_t n, p;
  std::int64_t operator()(std::int64_t c) const {
    return ((n * s.outer + c / s.block) * s.pixels() + p) * s.block + c % s.block;
  }
};

//   sum over j = c - before .. c + after, where the channels exist
float window(const float* values, std::int64_t channels, std::int64_t c, std::int64_t before,
             std::int64_t after) {
  const std::int64_t first = std::max<std::int64_t>(0, c - before), last = std::min(channels - 1, c + after);
  float sum = 0;
  for (std::int64_t j = first; j <= last; ++j) sum += values[j];
  return sum;
}

//   s = k + alpha / size sum x^2
void bases(const LocalResponse& by, const float* squares, std::int64_t channels, float* s) {
  const std::int64_t before = by.size / 2, after = by.size - 1 - before;
  const float factor = by.alpha / static_cast<float>(by.size);
  for (std::int64_t c = 0; c < channels; ++c)
    s[c] = by.k + factor * window(squares, channels, c, before, after);
}

}  // namespace

void local_response_norm_forward(const ChannelBlocks& shape, const LocalResponse& by, const float* x,
                                 float* scratch, float* y) {
  const std::int64_t channels = shape.channels;
  float *const squares = scratch, *const s = scratch + channels;
  if (shape.padded_channels() != channels) std::fill(y, y + shape.samples * shape.sample_size(), 0.0F);
  for (std::int64_t n = 0; n < shape.samples; ++n) {
    for (std::int64_t p = 0; p < shape.pixels(); ++p) {
      const Pixel at{shape, n, p};
      for (std::int64_t c = 0; c < channels; ++c) squares[c] = x[at(c)] * x[at(c)];
      bases(by, squares, channels, s);
      for (std::int64_t c = 0; c < channels; ++c) y[at(c)] = x[at(c)] * std::pow(s[c], -by.beta);
    }
  }
}

//   dx_j = dy_j s_j^-beta - 2 alpha beta / size x_j sum over the i whose window holds j of
//          dy_i x_i s_i^(-beta - 1)
void local_response_norm_backward(const ChannelBlocks& shape, const LocalResponse& by, const float* x,
                                  const float* dy, float* scratch, float* dx) {
  const std::int64_t channels = shape.channels;
  const std::int64_t before = by.size / 2, after = by.size - 1 - before;
  const float factor = 2 * by.alpha * by.beta / static_cast<float>(by.size);
  float *const squares = scratch, *const s = squares + channels, *const terms = s + channels;
  for (std::int64_t n = 0; n < shape.samples; ++n) {
    for (std::int64_t p = 0; p < shape.pixels(); ++p) {
      const Pixel at{shape, n, p};
      for (std::int64_t c = 0; c < channels; ++c) squares[c] = x[at(c)] * x[at(c)];
      bases(by, squares, channels, s);
      for (std::int64_t c = 0; c < channels; ++c) {
        const float power = std::pow(s[c], -by.beta);
        terms[c] = dy[at(c)] * x[at(c)] * power / s[c];
        s[c] = power;
      }
      for (std::int64_t c = 0; c < channels; ++c) {
        const float others = window(terms, channels, c, after, before);
        dx[at(c)] = dy[at(c)] * s[c] - factor * x[at(c)] * others;
      }
    }
  }
}

}  // namespace convoke::nn
