#include "nn/kernels/group_norm.hpp"

#include <algorithm>
#include <cmath>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/pieces.hpp"

namespace convoke::nn {
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
