#include "nn/kernels/sample_norms.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/pieces.hpp"
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

namespace {

/// Calls f(width, first channel, offset of its first pixel) for the pieces of a sample.
template <class F>
[[gnu::always_inline]] inline void for_each_plane(const ChannelBlocks& s, std::int64_t n, const F& f) {
  for_each_piece(
      s, [&](auto width, std::int64_t channel)
             __attribute__((always_inline)) { f(width, channel, plane_offset(s, s.pixels(), n, channel)); });
}

//   per channel: m = mean, v = variance, shifted by its first pixel as in batch_norm.cpp
//   per group:   mean = mean(m);  var = mean(v + (m - mean)^2)
template <class T>
void forward(const GroupNormShape& shape, const T* x, const float* gamma, const float* beta, float epsilon,
             const GroupNormMemory& memory, T* y) {
  const ChannelBlocks& s = shape.in;
  const std::int64_t padded = s.padded_channels(), size = shape.group_channels();
  const auto pixels = static_cast<float>(s.pixels());
  for (std::int64_t n = 0; n < s.samples; ++n) {
    float *const mean = memory.mean + n * padded, *const scale = memory.scale + n * padded;
    for_each_plane(
        s, n, [&](auto width, std::int64_t channel, std::int64_t first) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          float shift[kWidth], sum[kWidth] = {}, square[kWidth] = {};
          for (int c = 0; c < kWidth; ++c) shift[c] = x[first + c];
          for (std::int64_t p = 0; p < s.pixels(); ++p) {
#pragma omp simd
            for (int c = 0; c < kWidth; ++c) {
              const float d = static_cast<float>(x[first + p * s.block + c]) - shift[c];
              sum[c] += d;
              square[c] += d * d;
            }
          }
          for (int c = 0; c < kWidth; ++c) {
            const float off = sum[c] / pixels;
            memory.first[channel + c] = shift[c] + off;
            memory.second[channel + c] = std::max(0.0F, square[c] / pixels - off * off);
          }
        });
    std::fill(mean + s.channels, mean + padded, 0.0F);
    std::fill(scale + s.channels, scale + padded, 0.0F);
    for (std::int64_t group = 0; group < s.channels; group += size) {
      double center = 0, variance = 0;
      for (std::int64_t c = group; c < group + size; ++c) center += static_cast<double>(memory.first[c]);
      center /= static_cast<double>(size);
      for (std::int64_t c = group; c < group + size; ++c) {
        const double d = static_cast<double>(memory.first[c]) - center;
        variance += static_cast<double>(memory.second[c]) + d * d;
      }
      variance /= static_cast<double>(size);
      std::fill(mean + group, mean + group + size, static_cast<float>(center));
      std::fill(scale + group, scale + group + size,
                static_cast<float>(1 / std::sqrt(variance + static_cast<double>(epsilon))));
    }
    for_each_plane(
        s, n, [&](auto width, std::int64_t channel, std::int64_t first) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          float a[kWidth], b[kWidth];
          for (int c = 0; c < kWidth; ++c) {
            const std::int64_t at = channel + c;
            a[c] = at < s.channels ? gamma[at] * scale[at] : 0;
            b[c] = at < s.channels ? beta[at] - mean[at] * a[c] : 0;
          }
          for (std::int64_t p = 0; p < s.pixels(); ++p) {
#pragma omp simd
            for (int c = 0; c < kWidth; ++c) {
              const std::int64_t i = first + p * s.block + c;
              y[i] = a[c] * static_cast<float>(x[i]) + b[c];
            }
          }
        });
  }
}

//   M = pixels * channels of the group;  g = gamma dy
//   dx = scale (g - sum(g) / M - x_hat sum(g x_hat) / M) = a dy - (k1 + k2 x)
template <class T>
void backward(const GroupNormShape& shape, const T* x, const T* dy, const float* gamma,
              const GroupNormMemory& memory, T* dx, float* dgamma, float* dbeta) {
  const ChannelBlocks& s = shape.in;
  const std::int64_t padded = s.padded_channels(), size = shape.group_channels();
  const auto count = static_cast<double>(s.pixels() * size);
  std::fill(dgamma, dgamma + padded, 0.0F);
  std::fill(dbeta, dbeta + padded, 0.0F);
  for (std::int64_t n = 0; n < s.samples; ++n) {
    const float *const mean = memory.mean + n * padded, *const scale = memory.scale + n * padded;
    for_each_plane(
        s, n, [&](auto width, std::int64_t channel, std::int64_t first) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          float sum[kWidth] = {}, product[kWidth] = {};
          for (std::int64_t p = 0; p < s.pixels(); ++p) {
#pragma omp simd
            for (int c = 0; c < kWidth; ++c) {
              const std::int64_t i = first + p * s.block + c;
              const float hat = (static_cast<float>(x[i]) - mean[channel + c]) * scale[channel + c];
              sum[c] += static_cast<float>(dy[i]);
              product[c] += static_cast<float>(dy[i]) * hat;
            }
          }
          for (int c = 0; c < kWidth; ++c) {
            memory.first[channel + c] = sum[c];
            memory.second[channel + c] = product[c];
            dbeta[channel + c] += sum[c];
            dgamma[channel + c] += product[c];
          }
        });
    for (std::int64_t group = 0; group < s.channels; group += size) {
      double sum = 0, product = 0;
      for (std::int64_t c = group; c < group + size; ++c) {
        sum += static_cast<double>(gamma[c] * memory.first[c]);
        product += static_cast<double>(gamma[c] * memory.second[c]);
      }
      const auto r = static_cast<double>(scale[group]), m = static_cast<double>(mean[group]);
      const double k2 = r * r * product / count, k1 = r * sum / count - m * k2;
      std::fill(memory.first + group, memory.first + group + size, static_cast<float>(k1));
      std::fill(memory.second + group, memory.second + group + size, static_cast<float>(k2));
    }
    for_each_plane(
        s, n, [&](auto width, std::int64_t channel, std::int64_t first) __attribute__((always_inline)) {
          constexpr int kWidth = decltype(width)::value;
          float a[kWidth], k1[kWidth], k2[kWidth];
          for (int c = 0; c < kWidth; ++c) {
            const std::int64_t at = channel + c;
            const bool real = at < s.channels;
            a[c] = real ? gamma[at] * scale[at] : 0;
            k1[c] = real ? memory.first[at] : 0;
            k2[c] = real ? memory.second[at] : 0;
          }
          for (std::int64_t p = 0; p < s.pixels(); ++p) {
#pragma omp simd
            for (int c = 0; c < kWidth; ++c) {
              const std::int64_t i = first + p * s.block + c;
              dx[i] = a[c] * static_cast<float>(dy[i]) - (k1[c] + k2[c] * static_cast<float>(x[i]));
            }
          }
        });
  }
}

}  // namespace

CONVOKE_KERNELS(GroupNormKernels, forward, backward)

}  // namespace convoke::nn
