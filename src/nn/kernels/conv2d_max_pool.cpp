#include "nn/kernels/max_pool.hpp"

#include <cstring>
#include <limits>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/vectors.hpp"

namespace convoke::nn {
namespace {

constexpr int kBlock = 16;  // filters in a block of y
// Filters whose sums stay in registers together: GCC keeps vectors that are too long for the set in memory.
constexpr int kLanes = kThisSet == InstructionSet::kAvx512 ? 16 : 8;
constexpr int kTaps = 9;    // taps of the kernel
constexpr int kWindow = 4;  // pixels of the pooling's window

/// Returns the offset that tap t of the kernel reads for pixel p of the pooling's window.
[[gnu::always_inline]] inline std::int64_t tap(int t, int p, std::int64_t row) {
  return (t / 3 + p / 2) * row + t % 3 + p % 2;
}

/// Computes one window for kLanes filters: a[p] = bias + sum over c, t of weight[t, c] * x[c, tap t on pixel
/// p].
[[gnu::always_inline]] inline void convolve_window(const Conv2dMaxPoolShape& s, const float* corner,
                                                   const float* weight, const float* bias,
                                                   Floats<kLanes> (&a)[kWindow]) {
  Floats<kLanes> w{};
  if (bias != nullptr) load_vector(bias, w);
  for (Floats<kLanes>& pixel : a) pixel = w;
  for (std::int64_t c = 0; c < s.channels; ++c, corner += s.height * s.width, weight += s.filters) {
#pragma GCC unroll 9
    for (int t = 0; t < kTaps; ++t) {
      load_vector(weight + t * s.channels * s.filters, w);
#pragma GCC unroll 4
      for (int p = 0; p < kWindow; ++p) a[p] += w * corner[tap(t, p, s.width)];
    }
  }
}

template <class T>
void forward(const Conv2dMaxPoolShape& s, const float* x, const float* weight, const float* bias, T* y,
             std::int32_t* winners, bool relu) {
  const float lowest = relu ? 0.0F : -std::numeric_limits<float>::infinity();
  const std::int64_t plane = s.out_height * s.out_width * kBlock;
  for (std::int64_t sample = 0; sample < s.samples; ++sample, x += s.channels * s.height * s.width) {
    for (std::int64_t f = 0; f < s.filters; f += kLanes) {
      std::int64_t at = (sample * s.filters + f) / kBlock * plane + f % kBlock;
      for (std::int64_t h = 0; h < s.out_height; ++h) {
        for (std::int64_t w = 0; w < s.out_width; ++w, at += kBlock) {
          Floats<kLanes> a[kWindow];
          convolve_window(s, x + 2 * h * s.width + 2 * w, weight + f, bias == nullptr ? nullptr : bias + f,
                          a);
          Floats<kLanes> best = Floats<kLanes>{} + lowest, nan{};  // see max_pool.cpp
          Ints<kLanes> won = Ints<kLanes>{} + kNoWinner;
#pragma GCC unroll 4
          for (int p = 0; p < kWindow; ++p) {
            nan = a[p] != a[p] ? a[p] : nan;  // NOLINT(misc-redundant-expression)
            won = a[p] > best ? Ints<kLanes>{} + p : won;
            best = a[p] > best ? a[p] : best;
          }
          best = nan == nan ? best : nan;  // NOLINT(misc-redundant-expression)
          store_vector(best, y + at);
          if (winners != nullptr) std::memcpy(winners + at, &won, sizeof won);
        }
      }
    }
  }
}

/// For one sample, one channel and kLanes filters: d[t] += sum over windows of dy * x[tap t on the winning
/// pixel].
template <class T>
[[gnu::always_inline]] inline void correlate_winners(const Conv2dMaxPoolShape& s, const float* x, const T* dy,
                                                     const std::int32_t* winners, float* dweight) {
  Floats<kLanes> d[kTaps] = {};
  for (std::int64_t h = 0; h < s.out_height; ++h) {
    for (std::int64_t w = 0; w < s.out_width; ++w, dy += kBlock, winners += kBlock) {
      const float* corner = x + 2 * h * s.width + 2 * w;
      Floats<kLanes> g;
      load_vector(dy, g);
      Ints<kLanes> won;
      std::memcpy(&won, winners, sizeof won);
#pragma GCC unroll 4
      for (int p = 0; p < kWindow; ++p) {
        const Floats<kLanes> here = won == p ? g : Floats<kLanes>{};
#pragma GCC unroll 9
        for (int t = 0; t < kTaps; ++t) d[t] += here * corner[tap(t, p, s.width)];
      }
    }
  }
#pragma GCC unroll 9
  for (int t = 0; t < kTaps; ++t) {
    Floats<kLanes> sum;
    load_vector(dweight + t * s.channels * s.filters, sum);
    store_vector(sum + d[t], dweight + t * s.channels * s.filters);
  }
}

/// For one sample and kLanes filters: dbias[f] += sum of dy over windows that have a winner.
template <class T>
[[gnu::always_inline]] inline void sum_winners(std::int64_t windows, const T* dy, const std::int32_t* winners,
                                               float* dbias) {
  Floats<kLanes> d{}, g, sum;
  Ints<kLanes> won;
  for (std::int64_t i = 0; i < windows * kBlock; i += kBlock) {
    load_vector(dy + i, g);
    std::memcpy(&won, winners + i, sizeof won);
    d += won != kNoWinner ? g : Floats<kLanes>{};
  }
  load_vector(dbias, sum);
  store_vector(sum + d, dbias);
}

template <class T>
void backward(const Conv2dMaxPoolShape& s, const float* x, const T* dy, const std::int32_t* winners,
              float* dweight, float* dbias) {
  for (std::int64_t i = 0; i < kTaps * s.channels * s.filters; ++i) dweight[i] = 0;
  for (std::int64_t f = 0; dbias != nullptr && f < s.filters; ++f) dbias[f] = 0;
  const std::int64_t windows = s.out_height * s.out_width;
  for (std::int64_t sample = 0; sample < s.samples; ++sample) {
    for (std::int64_t f = 0; f < s.filters; f += kLanes) {
      const std::int64_t at = (sample * s.filters + f) / kBlock * windows * kBlock + f % kBlock;
      for (std::int64_t c = 0; c < s.channels; ++c) {
        correlate_winners(s, x + (sample * s.channels + c) * s.height * s.width, dy + at, winners + at,
                          dweight + c * s.filters + f);
      }
      if (dbias != nullptr) sum_winners(windows, dy + at, winners + at, dbias + f);
    }
  }
}

}  // namespace

CONVOKE_KERNELS(Conv2dMaxPoolKernels, forward, backward)

}  // namespace convoke::nn
