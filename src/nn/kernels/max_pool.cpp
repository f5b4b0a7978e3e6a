#include "nn/kernels/max_pool.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "convoke/nn/window.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/pieces.hpp"
#include "nn/kernels/vectors.hpp"

namespace convoke::nn {
namespace {

// A NaN never wins a comparison. It is kept apart and becomes the result, as in PyTorch and TensorFlow,
// because a network that has diverged must show it. (A sum of the window would also be NaN if it has both
// infinities.)

/// Any window: its pixels h0..h1 x w0..w1, limited to the image. Visits all channels of a pixel, in vectors
/// of eight.
template <int N, class T>
[[gnu::always_inline]] inline void best_of(const T* corner, std::int64_t row, std::int64_t step,
                                           int window_width, int h0, int h1, int w0, int w1, float lowest,
                                           T* y, std::int32_t* winners) {
  constexpr int kWidth = N % 8 == 0 ? 8 : 1;
  for (int c = 0; c < N; c += kWidth) {
    Floats<kWidth> best = Floats<kWidth>{} + lowest, nan{}, value;
    Ints<kWidth> won = Ints<kWidth>{} + kNoWinner;
    for (int h = h0; h < h1; ++h) {
      for (int w = w0; w < w1; ++w) {
        load_vector(corner + h * row + w * step + c, value);
        won = value > best ? Ints<kWidth>{} + (h * window_width + w) : won;
        best = value > best ? value : best;
        nan = value != value ? value : nan;  // NOLINT(misc-redundant-expression)
      }
    }
    best = nan == nan ? best : nan;  // NOLINT(misc-redundant-expression)
    store_vector(best, y + c);
    if (winners != nullptr) std::memcpy(winners + c, &won, sizeof won);
  }
}

template <int N, class T>
[[gnu::always_inline]] inline void forward_plane(const MaxPoolShape& s, const T* x, T* y,
                                                 std::int32_t* winners, float lowest) {
  const std::int64_t step = s.in.block, row = s.in.width * step;
  const bool twos = s.height == 2 && s.width == 2, threes = s.height == 3 && s.width == 3;
  const auto overlap = [](std::int64_t a, std::int64_t b) { return static_cast<int>(std::min(a, b)); };
  for (std::int64_t oh = 0; oh < s.out_height; ++oh) {
    const std::int64_t top = oh * s.stride_height - s.before_height;
    for (std::int64_t ow = 0; ow < s.out_width; ++ow) {
      const std::int64_t left = ow * s.stride_width - s.before_width;
      const std::int64_t out = (oh * s.out_width + ow) * step;
      const T* corner = x + top * row + left * step;
      const bool inside =
          top >= 0 && left >= 0 && top + s.height <= s.in.height && left + s.width <= s.in.width;
      std::int32_t* const won = winners == nullptr ? nullptr : winners + out;
      if (twos && inside) {
        // constants, so that the loops unroll
        best_of<N>(corner, row, step, 2, 0, 2, 0, 2, lowest, y + out, won);
      } else if (threes && inside) {
        best_of<N>(corner, row, step, 3, 0, 3, 0, 3, lowest, y + out, won);
      } else {
        best_of<N>(corner, row, step, static_cast<int>(s.width),
                   static_cast<int>(std::max<std::int64_t>(0, -top)), overlap(s.height, s.in.height - top),
                   static_cast<int>(std::max<std::int64_t>(0, -left)), overlap(s.width, s.in.width - left),
                   lowest, y + out, won);
      }
    }
  }
}

template <class T>
void forward(const MaxPoolShape& s, const T* x, T* y, std::int32_t* winners, bool relu) {
  const float lowest = relu ? 0.0F : -std::numeric_limits<float>::infinity();
  const std::int64_t out_pixels = s.out_height * s.out_width;
  for (std::int64_t sample = 0; sample < s.in.samples; ++sample) {
    for_each_piece(
        s.in, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          const std::int64_t out = plane_offset(s.in, out_pixels, sample, channel);
          forward_plane<decltype(width)::value>(s, x + plane_offset(s.in, s.in.pixels(), sample, channel),
                                                y + out, winners == nullptr ? nullptr : winners + out,
                                                lowest);
        });
  }
}

// Windows that do not overlap: every pixel belongs to at most one window, so it is written once.
template <int N, class T>
[[gnu::always_inline]] inline void backward_plane(const MaxPoolShape& s, const T* dy,
                                                  const std::int32_t* winners, T* dx) {
  const std::int64_t step = s.in.block, row = s.in.width * step;
  const std::int64_t used_height = s.out_height * s.height, used_width = s.out_width * s.width;
  for (std::int64_t oh = 0; oh < s.out_height; ++oh) {
    for (std::int64_t ow = 0; ow < s.out_width; ++ow) {
      const std::int64_t out = (oh * s.out_width + ow) * step;
      const In<T, N> gradient(dy + out);
      T* corner = dx + oh * s.height * row + ow * s.width * step;
      for (std::int64_t h = 0; h < s.height; ++h) {
        for (std::int64_t w = 0; w < s.width; ++w) {
          const int here = static_cast<int>(h * s.width + w);
          Out<T, N> pixel(corner + h * row + w * step);
#pragma omp simd
          for (int c = 0; c < N; ++c) pixel[c] = winners[out + c] == here ? gradient[c] : 0.0F;
          pixel.put();
        }
      }
    }
  }
  for (std::int64_t h = 0; h < s.in.height; ++h) {  // rows and columns outside all windows
    for (std::int64_t w = h < used_height ? used_width : 0; w < s.in.width; ++w) {
      std::fill_n(dx + h * row + w * step, N, T{});
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void backward_tiles(const MaxPoolShape& s, const T* dy,
                                                  const std::int32_t* winners, T* dx) {
  const std::int64_t out_pixels = s.out_height * s.out_width;
  for (std::int64_t sample = 0; sample < s.in.samples; ++sample) {
    for_each_piece(
        s.in, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          const std::int64_t out = plane_offset(s.in, out_pixels, sample, channel);
          backward_plane<decltype(width)::value>(s, dy + out, winners + out,
                                                 dx + plane_offset(s.in, s.in.pixels(), sample, channel));
        });
  }
}

// Any windows: where they overlap, their gradients are added.
template <class T>
void backward_any(const MaxPoolShape& s, const T* dy, const std::int32_t* winners, T* dx) {
  const std::int64_t row = s.in.width * s.in.block;
  std::fill(dx, dx + s.in.samples * s.in.sample_size(), T{});
  for (std::int64_t plane = 0; plane < s.in.samples * s.in.outer; ++plane, dx += s.in.height * row) {
    for (std::int64_t oh = 0; oh < s.out_height; ++oh) {
      for (std::int64_t ow = 0; ow < s.out_width; ++ow) {
        for (std::int64_t c = 0; c < s.in.block; ++c, ++dy, ++winners) {
          if (*winners == kNoWinner) continue;
          const std::int64_t h = oh * s.stride_height - s.before_height + *winners / s.width;
          const std::int64_t w = ow * s.stride_width - s.before_width + *winners % s.width;
          T& sum = dx[h * row + w * s.in.block + c];
          sum = static_cast<float>(sum) + static_cast<float>(*dy);
        }
      }
    }
  }
}

bool tile(const MaxPoolShape& shape) {
  return shape.height == shape.stride_height && shape.width == shape.stride_width &&
         shape.before_height == 0 && shape.before_width == 0 &&
         shape.out_height * shape.height <= shape.in.height &&
         shape.out_width * shape.width <= shape.in.width;
}

template <class T>
void backward(const MaxPoolShape& shape, const T* dy, const std::int32_t* winners, T* dx) {
  if (tile(shape)) return backward_tiles(shape, dy, winners, dx);
  backward_any(shape, dy, winners, dx);
}

template <int N, class T>
[[gnu::always_inline]] inline void adaptive_plane(const AdaptiveShape& s, const T* x, T* y,
                                                  std::int32_t* winners) {
  const std::int64_t step = s.in.block, row = s.in.width * step;
  for (std::int64_t oh = 0; oh < s.out_height; ++oh) {
    const AdaptiveWindow rows(oh, s.in.height, s.out_height);
    for (std::int64_t ow = 0; ow < s.out_width; ++ow) {
      const AdaptiveWindow columns(ow, s.in.width, s.out_width);
      const std::int64_t out = (oh * s.out_width + ow) * step;
      std::int32_t* const won = winners == nullptr ? nullptr : winners + out;
      best_of<N>(x + rows.begin * row + columns.begin * step, row, step, static_cast<int>(s.in.width), 0,
                 static_cast<int>(rows.end - rows.begin), 0, static_cast<int>(columns.end - columns.begin),
                 -std::numeric_limits<float>::infinity(), y + out, won);
      const int corner = static_cast<int>(rows.begin * s.in.width + columns.begin);
      for (int c = 0; won != nullptr && c < N; ++c)
        won[c] = won[c] == kNoWinner ? kNoWinner : corner + won[c];
    }
  }
}

template <class T>
void adaptive_forward(const AdaptiveShape& s, const T* x, T* y, std::int32_t* winners) {
  const std::int64_t out_pixels = s.out_height * s.out_width;
  for (std::int64_t sample = 0; sample < s.in.samples; ++sample) {
    for_each_piece(
        s.in, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          const std::int64_t out = plane_offset(s.in, out_pixels, sample, channel);
          adaptive_plane<decltype(width)::value>(s, x + plane_offset(s.in, s.in.pixels(), sample, channel),
                                                 y + out, winners == nullptr ? nullptr : winners + out);
        });
  }
}

template <class T>
void adaptive_backward(const AdaptiveShape& s, const T* dy, const std::int32_t* winners, T* dx) {
  const std::int64_t plane = s.in.pixels() * s.in.block, out_pixels = s.out_height * s.out_width;
  std::fill(dx, dx + s.in.samples * s.in.sample_size(), T{});
  for (std::int64_t p = 0; p < s.in.samples * s.in.outer; ++p, dx += plane) {
    for (std::int64_t o = 0; o < out_pixels; ++o) {
      for (std::int64_t c = 0; c < s.in.block; ++c, ++dy, ++winners) {
        if (*winners == kNoWinner) continue;
        T& sum = dx[*winners * s.in.block + c];
        sum = static_cast<float>(sum) + static_cast<float>(*dy);
      }
    }
  }
}

}  // namespace

CONVOKE_KERNELS(MaxPoolKernels, forward, backward, adaptive_forward, adaptive_backward)

}  // namespace convoke::nn
