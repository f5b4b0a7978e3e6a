#include "nn/kernels/layer_norm.hpp"

#include <algorithm>
#include <cmath>

#include "nn/kernels/instruction_sets.hpp"

namespace convoke::nn {
namespace {

/// Calls f(offset, first channel, count) for each run of a pixel's channels that are neighbors in memory.
template <class F>
[[gnu::always_inline]] inline void for_each_run(const ChannelBlocks& s, std::int64_t n, std::int64_t p,
                                                const F& f) {
  for (std::int64_t o = 0; o < s.outer; ++o) {
    const std::int64_t first = o * s.block;
    f(((n * s.outer + o) * s.pixels() + p) * s.block, first, std::min(s.block, s.channels - first));
  }
}

//   mean = sum(x) / C;  var = sum (x - mean)^2 / C
template <class T>
void forward(const ChannelBlocks& s, const T* x, const float* gamma, const float* beta, float epsilon,
             float* mean, float* scale, T* y) {
  const auto count = static_cast<float>(s.channels);
  if (s.padded_channels() != s.channels) std::fill(y, y + s.samples * s.sample_size(), T{});
  for (std::int64_t n = 0; n < s.samples; ++n) {
    for (std::int64_t p = 0; p < s.pixels(); ++p) {
      float sum = 0, square = 0;
      for_each_run(
          s, n, p, [&](std::int64_t at, std::int64_t, std::int64_t run) __attribute__((always_inline)) {
#pragma omp simd reduction(+ : sum)
            for (std::int64_t c = 0; c < run; ++c) sum += static_cast<float>(x[at + c]);
          });
      const float center = sum / count;
      for_each_run(
          s, n, p, [&](std::int64_t at, std::int64_t, std::int64_t run) __attribute__((always_inline)) {
#pragma omp simd reduction(+ : square)
            for (std::int64_t c = 0; c < run; ++c) {
              const float d = static_cast<float>(x[at + c]) - center;
              square += d * d;
            }
          });
      const float factor = 1 / std::sqrt(square / count + epsilon);
      mean[n * s.pixels() + p] = center;
      scale[n * s.pixels() + p] = factor;
      for_each_run(
          s, n, p, [&](std::int64_t at, std::int64_t first, std::int64_t run) __attribute__((always_inline)) {
#pragma omp simd
            for (std::int64_t c = 0; c < run; ++c) {
              const float hat = (static_cast<float>(x[at + c]) - center) * factor;
              y[at + c] = gamma[first + c] * hat + beta[first + c];
            }
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
      float sum = 0, product = 0;
      for_each_run(
          s, n, p, [&](std::int64_t at, std::int64_t first, std::int64_t run) __attribute__((always_inline)) {
#pragma omp simd reduction(+ : sum, product)
            for (std::int64_t c = 0; c < run; ++c) {
              const float hat = (static_cast<float>(x[at + c]) - center) * factor;
              const float gradient = dy[at + c];
              gammas[first + c] += gradient * hat;
              betas[first + c] += gradient;
              sum += gamma[first + c] * gradient;
              product += gamma[first + c] * gradient * hat;
            }
          });
      const float mean_g = sum / count, mean_product = product / count;
      for_each_run(
          s, n, p, [&](std::int64_t at, std::int64_t first, std::int64_t run) __attribute__((always_inline)) {
#pragma omp simd
            for (std::int64_t c = 0; c < run; ++c) {
              const float hat = (static_cast<float>(x[at + c]) - center) * factor;
              const float g = gamma[first + c] * static_cast<float>(dy[at + c]);
              dx[at + c] = factor * (g - mean_g - hat * mean_product);
            }
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
