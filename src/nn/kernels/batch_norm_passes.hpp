#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "nn/kernels/batch_norm.hpp"
#include "nn/kernels/curves.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/max_pool.hpp"
#include "nn/kernels/pieces.hpp"
#include "nn/kernels/vectors.hpp"

/// The passes over a micro-batch in batch normalization, for a piece of N channels. They take the constants
/// of channels by value, so that the compiler sees that no store to a tensor changes them.
namespace convoke::nn::batch_norm_passes {
namespace {

using Form = BatchNormShape::Form;

/// Calls f with the shape's form as a constant.
template <class F>
[[gnu::always_inline]] inline void with_form(const BatchNormShape& shape, const F& f) {
  switch (shape.form()) {
    case Form::kPlain:
      return f(std::integral_constant<Form, Form::kPlain>{});
    case Form::kPooled:
      return f(std::integral_constant<Form, Form::kPooled>{});
    case Form::kSilu:
      return f(std::integral_constant<Form, Form::kSilu>{});
    case Form::kHardSwish:
      return f(std::integral_constant<Form, Form::kHardSwish>{});
  }
}

/// The following function, for the forms that have one.
template <Form kForm>
constexpr Curve kCurve = kForm == Form::kSilu ? Curve::kSilu : Curve::kHardSwish;

/// As BatchNormShape::gates().
template <Form kForm>
constexpr bool kGates = !(kForm == Form::kPlain || kForm == Form::kPooled);

/// N channels of one micro-batch: the positions of their planes.
struct Planes {
  std::int64_t in_first, in_sample;    ///< offset of the first pixel, and from one sample to the next
  std::int64_t out_first, out_sample;  ///< the same after pooling
};

[[gnu::always_inline]] inline Planes planes_of(const BatchNormShape& s, std::int64_t micro_batch,
                                               std::int64_t channel) {
  const std::int64_t in = s.in.pixels(), out = s.out_height() * s.out_width();
  return {plane_offset(s.in, in, micro_batch * s.micro_batch, channel), s.in.outer * in * s.in.block,
          plane_offset(s.in, out, micro_batch * s.micro_batch, channel), s.in.outer * out * s.in.block};
}

/// The constants of each channel in a pass over one piece of N channels.
template <int N>
struct Channels {
  float a[N], b[N], center[N], scale[N];

  [[gnu::always_inline]] Channels(const float* gamma, const float* beta, const float* mean,
                                  const float* deviation) {
    for (int c = 0; c < N; ++c) {
      center[c] = mean[c];
      scale[c] = deviation[c];
      a[c] = gamma[c] * scale[c];
      b[c] = beta[c] - center[c] * a[c];
    }
  }
};

/// Two sums over a micro-batch, for N channels. Within a plane it adds floats in four chains, so that no
/// addition waits for the previous one; over planes it adds doubles.
template <int N>
struct BatchNormSums {
  double first[N] = {}, second[N] = {};

  /// Adds the pairs that `term(pixel)(channel)` returns, over the pixels of a plane.
  template <class Term>
  [[gnu::always_inline]] void add_plane(std::int64_t pixels, const Term& term) {
    float a[4][N] = {}, b[4][N] = {};
    std::int64_t p = 0;
    for (; p + 4 <= pixels; p += 4) {
      const auto t0 = term(p), t1 = term(p + 1), t2 = term(p + 2), t3 = term(p + 3);
#pragma omp simd
      for (int c = 0; c < N; ++c) {
        const auto [a0, b0] = t0(c);
        const auto [a1, b1] = t1(c);
        const auto [a2, b2] = t2(c);
        const auto [a3, b3] = t3(c);
        a[0][c] += a0, a[1][c] += a1, a[2][c] += a2, a[3][c] += a3;
        b[0][c] += b0, b[1][c] += b1, b[2][c] += b2, b[3][c] += b3;
      }
    }
    for (; p < pixels; ++p) {
      const auto t0 = term(p);
#pragma omp simd
      for (int c = 0; c < N; ++c) {
        const auto [a0, b0] = t0(c);
        a[0][c] += a0;
        b[0][c] += b0;
      }
    }
    for (int c = 0; c < N; ++c) {
      first[c] += static_cast<double>((a[0][c] + a[1][c]) + (a[2][c] + a[3][c]));
      second[c] += static_cast<double>((b[0][c] + b[1][c]) + (b[2][c] + b[3][c]));
    }
  }
};

struct Pair {
  float a, b;
};

//   K = x[0];  mean = K + sum(x - K) / M;  var = (sum (x - K)^2 - sum(x - K)^2 / M) / M
// One pass. Subtracting a sample keeps the difference of squares well conditioned.
template <int N, class T, class Statistic>
void statistics(const BatchNormShape& s, const Planes& at, const T* x, Statistic* mean, Statistic* variance) {
  const std::int64_t step = s.in.block, pixels = s.in.pixels();
  float shift[N];
  for (int c = 0; c < N; ++c) shift[c] = x[at.in_first + c];
  BatchNormSums<N> sums;
  for (std::int64_t i = 0; i < s.micro_batch; ++i) {
    const T* plane = x + at.in_first + i * at.in_sample;
    sums.add_plane(
        pixels, [&](std::int64_t p) __attribute__((always_inline)) {
          return [ pixel = In<T, N>(plane + p * step), &shift ](int c) __attribute__((always_inline)) {
            const float d = pixel[c] - shift[c];
            return Pair{d, d * d};
          };
        });
  }
  const auto count = static_cast<double>(s.micro_batch * pixels);
  for (int c = 0; c < N; ++c) {
    const double off = sums.first[c] / count;
    mean[c] = static_cast<Statistic>(static_cast<double>(shift[c]) + off);
    variance[c] = static_cast<Statistic>(std::max(0.0, sums.second[c] / count - off * off));
  }
}

// One window with pooling: y, and for backward the winner and its normalized value. See max_pool.cpp.
template <int N, class T>
[[gnu::always_inline]] inline void normalize_window(const Channels<N>& k, const T* corner, std::int64_t row,
                                                    std::int64_t step, int height, int width, float floor,
                                                    T* y, float* x_hat, std::int32_t* winners) {
  constexpr int kVector = kThisSet == InstructionSet::kAvx512 ? 16 : 8,
                kWidth = N % kVector == 0 ? kVector : 1;
  for (int c = 0; c < N; c += kWidth) {
    Floats<kWidth> a, b, center, scale, pixel, nan{};
    load_vector(k.a + c, a);
    load_vector(k.b + c, b);
    load_vector(k.center + c, center);
    Floats<kWidth> best = Floats<kWidth>{} + floor, best_x = center;
    Ints<kWidth> won = Ints<kWidth>{} + kNoWinner;
    for (int h = 0; h < height; ++h) {
      for (int w = 0; w < width; ++w) {
        load_vector(corner + h * row + w * step + c, pixel);
        const Floats<kWidth> value = pixel * a + b;
        nan = value != value ? value : nan;  // NOLINT(misc-redundant-expression)
        won = value > best ? Ints<kWidth>{} + (h * width + w) : won;
        best_x = value > best ? pixel : best_x;
        best = value > best ? value : best;
      }
    }
    best = nan == nan ? best : nan;  // NOLINT(misc-redundant-expression)
    store_vector(best, y + c);
    if (winners == nullptr) continue;
    load_vector(k.scale + c, scale);
    store_vector((best_x - center) * scale, x_hat + c);
    std::memcpy(winners + c, &won, sizeof won);
  }
}

//   y = pool(relu(a x + b)), or f(a x + b),  a = gamma * scale,  b = beta - mean * a
template <int N, Form kForm, class T>
void normalize(const BatchNormShape& s, const Planes& at, const T* x, const Channels<N> k,
               std::int32_t* winners, float* x_hat, T* y) {
  const std::int64_t step = s.in.block, row = s.in.width * step;
  const float floor = s.relu ? 0.0F : -std::numeric_limits<float>::infinity(), ceiling = s.ceiling;
  for (std::int64_t i = 0; i < s.micro_batch; ++i) {
    const T* plane = x + at.in_first + i * at.in_sample;
    T* out = y + at.out_first + i * at.out_sample;
    if constexpr (kForm != Form::kPooled) {
      for (std::int64_t p = 0; p < s.in.pixels(); ++p) {
        const In<T, N> pixel(plane + p * step);
        Out<T, N> result(out + p * step);
#pragma omp simd
        for (int c = 0; c < N; ++c) {
          const float value = pixel[c] * k.a[c] + k.b[c];
          if constexpr (kForm == Form::kPlain) {
            const float above = value < floor ? floor : value;
            result[c] = above > ceiling ? ceiling : above;
          } else {
            result[c] = curve<kCurve<kForm>>(value, 0);
          }
        }
        result.put();
      }
    } else {
      const bool two_by_two = s.pool_height == 2 && s.pool_width == 2;
      for (std::int64_t oh = 0; oh < s.out_height(); ++oh) {
        for (std::int64_t ow = 0; ow < s.out_width(); ++ow) {
          const T* corner = plane + oh * s.pool_height * row + ow * s.pool_width * step;
          const std::int64_t o = (oh * s.out_width() + ow) * step;
          float* hat = winners == nullptr ? nullptr : x_hat + (out - y) + o;
          std::int32_t* won = winners == nullptr ? nullptr : winners + (out - y) + o;
          if (two_by_two) {  // constants, so that the loops unroll
            normalize_window<N>(k, corner, row, step, 2, 2, floor, out + o, hat, won);
          } else {
            normalize_window<N>(k, corner, row, step, static_cast<int>(s.pool_height),
                                static_cast<int>(s.pool_width), floor, out + o, hat, won);
          }
        }
      }
    }
  }
}

// Computes g of `count` pixels from `first`: dy f'(a x + b).
template <int N, Form kForm, class T>
[[gnu::always_inline]] inline void gate(const Channels<N>& k, const T* x, const T* dy, std::int64_t step,
                                        std::int64_t first, std::int64_t count, T* gated) {
  for (std::int64_t p = first; p < first + count; ++p) {
    const In<T, N> given(dy + p * step), pixel(x + p * step);
    Out<T, N> result(gated + p * step);
#pragma omp simd
    for (int c = 0; c < N; ++c) result[c] = given[c] * slope<kCurve<kForm>>(pixel[c] * k.a[c] + k.b[c], 0);
    result.put();
  }
}

//   d beta = sum g,  d gamma = sum g x_hat,  where g is dy after the backward pass of what follows
template <int N, Form kForm, class T>
void reduce(const BatchNormShape& s, const Planes& at, const T* x, const T* dy, const Channels<N> k,
            const BatchNormMemory& memory, T* gated, BatchNormSums<N>& sums) {
  const std::int64_t step = s.in.block, pixels = s.out_height() * s.out_width();
  const float threshold = s.relu ? 0.0F : -std::numeric_limits<float>::infinity(), ceiling = s.ceiling;
  const std::int64_t piece = kGates<kForm> ? 128 : pixels;  // what is gated is still in the cache
  for (std::int64_t sample = 0; sample < s.micro_batch; ++sample) {
    const std::int64_t out = at.out_first + sample * at.out_sample;
    const T* plane = x + at.in_first + sample * at.in_sample;
    const T* gradient = dy + out;
    for (std::int64_t first = 0; first < pixels; first += piece) {
      const std::int64_t count = std::min(piece, pixels - first);
      if constexpr (kGates<kForm>) {
        gate<N, kForm>(k, plane, dy + out, step, first, count, gated + out);
        gradient = gated + out;
      }
      sums.add_plane(
          count, [&](std::int64_t p) __attribute__((always_inline)) {
            const std::int64_t here = (first + p) * step;
            const In<T, N> given(gradient + here);
            if constexpr (kForm == Form::kPooled) {
              return [ given, hat = memory.x_hat + out + here, won = memory.winners + out + here ](int c)
                  __attribute__((always_inline)) {
                const float g = won[c] == kNoWinner ? 0.0F : given[c];
                return Pair{g, g * hat[c]};
              };
            } else {
              return [ given, pixel = In<T, N>(plane + here), &k, threshold, ceiling ](int c)
                  __attribute__((always_inline)) {
                const float value = pixel[c];
                float g = given[c];
                if constexpr (kForm == Form::kPlain) {
                  const float z = value * k.a[c] + k.b[c];
                  g = (z > threshold) & (z < ceiling) ? g : 0.0F;
                }
                return Pair{g, g * ((value - k.center[c]) * k.scale[c])};
              };
            }
          });
    }
  }
}

/// The data gradient of a channel subtracts the line k1 + k2 x.
template <int N>
struct Line {
  float k1[N] = {}, k2[N] = {};
};

// One row of pixels within `count` windows: g is dy of the window whose winner is the pixel. The windows'
// places in this row are numbered from `first`.
template <int N, class T>
[[gnu::always_inline]] inline void spread_back_row(const Channels<N>& k, const Line<N>& line, const T* x,
                                                   const T* dy, const std::int32_t* winners,
                                                   std::int64_t step, std::int64_t count, int width,
                                                   int first, T* dx) {
  for (std::int64_t window = 0; window < count; ++window) {
    const In<T, N> given(dy + window * step);
    for (int w = 0; w < width; ++w) {
      const std::int64_t pixel = (window * width + w) * step;
      const In<T, N> value(x + pixel);
      Out<T, N> result(dx + pixel);
#pragma omp simd
      for (int c = 0; c < N; ++c) {
        const float g = winners[window * step + c] == first + w ? given[c] : 0.0F;
        result[c] = k.a[c] * g - (line.k1[c] + line.k2[c] * value[c]);
      }
      result.put();
    }
  }
}

//   dx = a (g - d beta / M - x_hat d gamma / M) = a g - (k1 + k2 x)
template <int N, Form kForm, class T>
void spread_back(const BatchNormShape& s, const Planes& at, const T* x, const T* dy, const Channels<N> k,
                 const Line<N> line, const BatchNormMemory& memory, T* dx) {
  const std::int64_t step = s.in.block, row = s.in.width * step;
  const float threshold = s.relu ? 0.0F : -std::numeric_limits<float>::infinity(), ceiling = s.ceiling;
  for (std::int64_t i = 0; i < s.micro_batch; ++i) {
    const T* plane = x + at.in_first + i * at.in_sample;
    T* diff = dx + at.in_first + i * at.in_sample;
    const T* gradient = dy + at.out_first + i * at.out_sample;
    if constexpr (kForm != Form::kPooled) {
      for (std::int64_t p = 0; p < s.in.pixels(); ++p) {
        const In<T, N> pixel(plane + p * step), given(gradient + p * step);
        Out<T, N> result(diff + p * step);
#pragma omp simd
        for (int c = 0; c < N; ++c) {
          const float value = pixel[c];
          float g = given[c];
          if constexpr (kForm == Form::kPlain) {
            const float z = value * k.a[c] + k.b[c];
            g = (z > threshold) & (z < ceiling) ? g : 0.0F;
          }
          result[c] = k.a[c] * g - (line.k1[c] + line.k2[c] * value);
        }
        result.put();
      }
    } else {
      const std::int32_t* winners = memory.winners + at.out_first + i * at.out_sample;
      const std::int64_t used_height = s.out_height() * s.pool_height,
                         used_width = s.out_width() * s.pool_width;
      for (std::int64_t y = 0; y < used_height; ++y) {  // row by row, so that memory is read in its order
        const std::int64_t windows = y / s.pool_height * s.out_width() * step;
        const int first = static_cast<int>(y % s.pool_height * s.pool_width);
        const auto spread = [&](int width) __attribute__((always_inline)) {
          spread_back_row<N>(k, line, plane + y * row, gradient + windows, winners + windows, step,
                             s.out_width(), width, first, diff + y * row);
        };
        s.pool_width == 2 ? spread(2)
                          : spread(static_cast<int>(s.pool_width));  // a constant unrolls the loop
      }
      for (std::int64_t h = 0; h < s.in.height; ++h) {  // rows and columns outside all windows
        for (std::int64_t w = h < used_height ? used_width : 0; w < s.in.width; ++w) {
          const std::int64_t pixel = h * row + w * step;
          for (int c = 0; c < N; ++c) diff[pixel + c] = -(line.k1[c] + line.k2[c] * plane[pixel + c]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace convoke::nn::batch_norm_passes
