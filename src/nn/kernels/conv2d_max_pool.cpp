#include "nn/kernels/conv2d_max_pool.hpp"

#include <limits>

#include "convoke/core/multiversion.hpp"
#include "nn/kernels/max_pool.hpp"

namespace convoke::nn {
namespace {

constexpr int kFilters = 16;  // filters in one vector
constexpr int kTaps = 9;      // taps of the kernel
constexpr int kWindow = 4;    // pixels of the pooling's window

// Uses the compiler's vectors instead of loops, because the accumulators must stay in registers over the
// whole image.
using Floats [[gnu::vector_size(4 * kFilters), gnu::aligned(4), gnu::may_alias]] = float;
using Ints [[gnu::vector_size(4 * kFilters), gnu::aligned(4), gnu::may_alias]] = std::int32_t;

[[gnu::always_inline]] inline const Floats& floats_at(const float* at) {
  return *reinterpret_cast<const Floats*>(at);
}
[[gnu::always_inline]] inline Floats& store(float* at) { return *reinterpret_cast<Floats*>(at); }

// bf16 in memory, float in registers: see kernels/bfloat16.hpp.
using Halves [[gnu::vector_size(2 * kFilters), gnu::aligned(2), gnu::may_alias]] = std::uint16_t;
using Words [[gnu::vector_size(4 * kFilters)]] = std::uint32_t;
// By reference, because returning a vector by value depends on the ABI of the target.
[[gnu::always_inline]] inline void get(const float* at, Floats& values) { values = floats_at(at); }
[[gnu::always_inline]] inline void get(const Bf16* at, Floats& values) {
  values =
      reinterpret_cast<Floats>(__builtin_convertvector(*reinterpret_cast<const Halves*>(at), Words) << 16);
}
[[gnu::always_inline]] inline void put(float* at, const Floats& values) { store(at) = values; }
[[gnu::always_inline]] inline void put(Bf16* at, const Floats& values) {
  for (int i = 0; i < kFilters; ++i) at[i] = values[i];
}

/// Returns the offset that tap t of the kernel reads for pixel p of the pooling's window.
[[gnu::always_inline]] inline std::int64_t tap(int t, int p, std::int64_t row) {
  return (t / 3 + p / 2) * row + t % 3 + p % 2;
}

/// Computes one window for 16 filters: a[p] = bias + sum over c, t of weight[t, c] * x[c, tap t on pixel p].
[[gnu::always_inline]] inline void convolve_window(const Conv2dMaxPoolShape& s, const float* corner,
                                                   const float* weight, const float* bias,
                                                   Floats (&a)[kWindow]) {
  for (Floats& pixel : a) pixel = bias == nullptr ? Floats{} : floats_at(bias);
  for (std::int64_t c = 0; c < s.channels; ++c, corner += s.height * s.width, weight += s.filters) {
#pragma GCC unroll 9
    for (int t = 0; t < kTaps; ++t) {
      const Floats w = floats_at(weight + t * s.channels * s.filters);
#pragma GCC unroll 4
      for (int p = 0; p < kWindow; ++p) a[p] += w * corner[tap(t, p, s.width)];
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void forward(const Conv2dMaxPoolShape& s, const float* x, const float* weight,
                                           const float* bias, T* y, std::int32_t* winners, bool relu) {
  const float lowest = relu ? 0.0F : -std::numeric_limits<float>::infinity();
  for (std::int64_t sample = 0; sample < s.samples; ++sample, x += s.channels * s.height * s.width) {
    for (std::int64_t f = 0; f < s.filters; f += kFilters) {
      for (std::int64_t h = 0; h < s.out_height; ++h) {
        for (std::int64_t w = 0; w < s.out_width; ++w, y += kFilters) {
          Floats a[kWindow];
          convolve_window(s, x + 2 * h * s.width + 2 * w, weight + f, bias == nullptr ? nullptr : bias + f,
                          a);
          Floats best = Floats{} + lowest, nan = {};  // see max_pool.cpp
          Ints won = Ints{} + kNoWinner;
#pragma GCC unroll 4
          for (int p = 0; p < kWindow; ++p) {
            nan = a[p] != a[p] ? a[p] : nan;  // NOLINT(misc-redundant-expression)
            won = a[p] > best ? Ints{} + p : won;
            best = a[p] > best ? a[p] : best;
          }
          put(y, nan == nan ? best : nan);  // NOLINT(misc-redundant-expression)
          if (winners == nullptr) continue;
          *reinterpret_cast<Ints*>(winners) = won;
          winners += kFilters;
        }
      }
    }
  }
}

/// For one sample, one channel and 16 filters: d[t] += sum over windows of dy * x[tap t on the winning
/// pixel].
template <class T>
[[gnu::always_inline]] inline void correlate_winners(const Conv2dMaxPoolShape& s, const float* x, const T* dy,
                                                     const std::int32_t* winners, float* dweight) {
  Floats d[kTaps] = {};
  for (std::int64_t h = 0; h < s.out_height; ++h) {
    for (std::int64_t w = 0; w < s.out_width; ++w, dy += kFilters, winners += kFilters) {
      const float* corner = x + 2 * h * s.width + 2 * w;
      Floats g;
      get(dy, g);
      const Ints won = *reinterpret_cast<const Ints*>(winners);
#pragma GCC unroll 4
      for (int p = 0; p < kWindow; ++p) {
        const Floats here = won == p ? g : Floats{};
#pragma GCC unroll 9
        for (int t = 0; t < kTaps; ++t) d[t] += here * corner[tap(t, p, s.width)];
      }
    }
  }
#pragma GCC unroll 9
  for (int t = 0; t < kTaps; ++t) store(dweight + t * s.channels * s.filters) += d[t];
}

/// For one sample and 16 filters: dbias[f] += sum of dy over windows that have a winner.
template <class T>
[[gnu::always_inline]] inline void sum_winners(std::int64_t windows, const T* dy, const std::int32_t* winners,
                                               float* dbias) {
  Floats d = {};
  for (std::int64_t i = 0; i < windows * kFilters; i += kFilters) {
    Floats g;
    get(dy + i, g);
    d += *reinterpret_cast<const Ints*>(winners + i) != kNoWinner ? g : Floats{};
  }
  store(dbias) += d;
}

template <class T>
[[gnu::always_inline]] inline void backward(const Conv2dMaxPoolShape& s, const float* x, const T* dy,
                                            const std::int32_t* winners, float* dweight, float* dbias) {
  for (std::int64_t i = 0; i < kTaps * s.channels * s.filters; ++i) dweight[i] = 0;
  for (std::int64_t f = 0; dbias != nullptr && f < s.filters; ++f) dbias[f] = 0;
  const std::int64_t windows = s.out_height * s.out_width;
  for (std::int64_t sample = 0; sample < s.samples; ++sample) {
    for (std::int64_t f = 0; f < s.filters;
         f += kFilters, dy += windows * kFilters, winners += windows * kFilters) {
      for (std::int64_t c = 0; c < s.channels; ++c) {
        correlate_winners(s, x + (sample * s.channels + c) * s.height * s.width, dy, winners,
                          dweight + c * s.filters + f);
      }
      if (dbias != nullptr) sum_winners(windows, dy, winners, dbias + f);
    }
  }
}

}  // namespace

CONVOKE_MULTIVERSION
void conv2d_max_pool_forward(const Conv2dMaxPoolShape& shape, const float* x, const float* weight,
                             const float* bias, float* y, std::int32_t* winners, bool relu) {
  forward(shape, x, weight, bias, y, winners, relu);
}
CONVOKE_MULTIVERSION
void conv2d_max_pool_forward(const Conv2dMaxPoolShape& shape, const float* x, const float* weight,
                             const float* bias, Bf16* y, std::int32_t* winners, bool relu) {
  forward(shape, x, weight, bias, y, winners, relu);
}

CONVOKE_MULTIVERSION
void conv2d_max_pool_backward(const Conv2dMaxPoolShape& shape, const float* x, const float* dy,
                              const std::int32_t* winners, float* dweight, float* dbias) {
  backward(shape, x, dy, winners, dweight, dbias);
}
CONVOKE_MULTIVERSION
void conv2d_max_pool_backward(const Conv2dMaxPoolShape& shape, const float* x, const Bf16* dy,
                              const std::int32_t* winners, float* dweight, float* dbias) {
  backward(shape, x, dy, winners, dweight, dbias);
}

}  // namespace convoke::nn
