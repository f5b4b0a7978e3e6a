#include "nn/kernels/layer_norm.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "nn/kernels/vectors.hpp"

namespace convoke::nn {
namespace {

/// Calls f(width, offset, first channel) for neighboring channels of a pixel: a vector of them, or one.
template <class F>
[[gnu::always_inline]] inline void for_each_vector(const ChannelBlocks& s, std::int64_t n, std::int64_t p,
                                                   const F& f) {
  for (std::int64_t o = 0; o < s.outer; ++o) {
    const std::int64_t at = ((n * s.outer + o) * s.pixels() + p) * s.block, first = o * s.block;
    const std::int64_t count = std::min(s.block, s.channels - first);
    std::int64_t c = 0;
    for (; c + kVectorFloats <= count; c += kVectorFloats)
      f(std::integral_constant<int, kVectorFloats>{}, at + c, first + c);
    for (; c < count; ++c) f(std::integral_constant<int, 1>{}, at + c, first + c);
  }
}

/// A sum over channels. It is added up only once: GCC adds up a `simd reduction` after each block of
/// channels.
struct Sum {
  Floats<kVectorFloats> lanes{};
  float rest = 0;
  template <class Vector>
  [[gnu::always_inline]] void add(const Vector& values) {
    if constexpr (kValuesOf<Vector> == 1) {
      rest += values[0];
    } else {
      lanes += values;
    }
  }
  [[gnu::always_inline]] float total() const {
    float sum = rest;
    for (int i = 0; i < kVectorFloats; ++i) sum += lanes[i];
    return sum;
  }
};

//   mean = sum(x) / C;  var = sum (x - mean)^2 / C
template <class T>
void forward(const ChannelBlocks& s, const T* x, const float* gamma, const float* beta, float epsilon,
             float* mean, float* scale, T* y) {
  const auto count = static_cast<float>(s.channels);
  if (s.padded_channels() != s.channels) std::fill(y, y + s.samples * s.sample_size(), T{});
  for (std::int64_t n = 0; n < s.samples; ++n) {
    for (std::int64_t p = 0; p < s.pixels(); ++p) {
      Sum sum, square;
      for_each_vector(
          s, n, p, [&](auto width, std::int64_t at, std::int64_t) __attribute__((always_inline)) {
            Floats<decltype(width)::value> value;
            load_vector(x + at, value);
            sum.add(value);
          });
      const float center = sum.total() / count;
      for_each_vector(
          s, n, p, [&](auto width, std::int64_t at, std::int64_t) __attribute__((always_inline)) {
            Floats<decltype(width)::value> value;
            load_vector(x + at, value);
            value -= center;
            square.add(value * value);
          });
      const float factor = 1 / std::sqrt(square.total() / count + epsilon);
      mean[n * s.pixels() + p] = center;
      scale[n * s.pixels() + p] = factor;
      for_each_vector(
          s, n, p, [&](auto width, std::int64_t at, std::int64_t first) __attribute__((always_inline)) {
            Floats<decltype(width)::value> value, g, b;
            load_vector(x + at, value);
            load_vector(gamma + first, g);
            load_vector(beta + first, b);
            store_vector(g * ((value - center) * factor) + b, y + at);
          });
    }
  }
}

//   g = gamma dy;  dx = scale (g - mean(g) - x_hat mean(g x_hat));  d gamma = sum dy x_hat;  d beta = sum dy
// The sums run over a sample first, then over samples.
template <class T>
void backward(const ChannelBlocks& s, const T* x, const T* dy, const float* gamma, const float* mean,
              const float* scale, float* partial, T* dx, float* dgamma, float* dbeta) {
  const std::int64_t padded = s.padded_channels();
  const auto count = static_cast<float>(s.channels);
  float *const gammas = partial, *const betas = partial + padded;
  std::fill(dgamma, dgamma + padded, 0.0F);
  std::fill(dbeta, dbeta + padded, 0.0F);
  for (std::int64_t n = 0; n < s.samples; ++n) {
    std::fill(partial, partial + 2 * padded, 0.0F);
    for (std::int64_t p = 0; p < s.pixels(); ++p) {
      const float center = mean[n * s.pixels() + p], factor = scale[n * s.pixels() + p];
      Sum sum, product;
      for_each_vector(
          s, n, p, [&](auto width, std::int64_t at, std::int64_t first) __attribute__((always_inline)) {
            Floats<decltype(width)::value> hat, gradient, g, gamma_sum, beta_sum;
            load_vector(x + at, hat);
            load_vector(dy + at, gradient);
            load_vector(gamma + first, g);
            load_vector(gammas + first, gamma_sum);
            load_vector(betas + first, beta_sum);
            hat = (hat - center) * factor;
            g *= gradient;
            store_vector(gamma_sum + gradient * hat, gammas + first);
            store_vector(beta_sum + gradient, betas + first);
            sum.add(g);
            product.add(g * hat);
          });
      const float mean_g = sum.total() / count, mean_product = product.total() / count;
      for_each_vector(
          s, n, p, [&](auto width, std::int64_t at, std::int64_t first) __attribute__((always_inline)) {
            Floats<decltype(width)::value> hat, gradient, g;
            load_vector(x + at, hat);
            load_vector(dy + at, gradient);
            load_vector(gamma + first, g);
            hat = (hat - center) * factor;
            store_vector(factor * (g * gradient - mean_g - hat * mean_product), dx + at);
          });
    }
    for (std::int64_t c = 0; c < padded; ++c) {
      dgamma[c] += gammas[c];
      dbeta[c] += betas[c];
    }
  }
}

}  // namespace

CONVOKE_KERNELS(LayerNormKernels, forward, backward)

}  // namespace convoke::nn
