#include "nn/kernels/max_pool.hpp"

#include <algorithm>
#include <limits>

#include "convoke/core/multiversion.hpp"

namespace convoke::nn {
namespace {

// The block (channels side by side) is a template parameter so that the inner loop is one vector instruction; 0 means
// any block, counted at run time.
template <int kBlock>
[[gnu::always_inline]] inline void forward(const MaxPoolShape& s, const float* x, float* y, std::uint8_t* winners,
                                           bool relu) {
  const std::int64_t block = kBlock > 0 ? kBlock : s.in.block;
  const std::int64_t row = s.in.width * block;
  const std::int64_t planes = s.in.samples * s.in.outer;
  const float lowest = relu ? 0.0F : -std::numeric_limits<float>::infinity();
  for (std::int64_t plane = 0; plane < planes; ++plane, x += s.in.height * row) {
    for (std::int64_t oh = 0; oh < s.out_height; ++oh) {
      const std::int64_t top = oh * s.stride_height - s.before_height;
      for (std::int64_t ow = 0; ow < s.out_width; ++ow, y += block) {
        const std::int64_t left = ow * s.stride_width - s.before_width;
        const std::int64_t h0 = std::max<std::int64_t>(0, -top), h1 = std::min(s.height, s.in.height - top);
        const std::int64_t w0 = std::max<std::int64_t>(0, -left), w1 = std::min(s.width, s.in.width - left);
        if constexpr (kBlock > 0) {
          float best[kBlock > 0 ? kBlock : 1];
          int won[kBlock > 0 ? kBlock : 1];
          for (int c = 0; c < kBlock; ++c) best[c] = lowest, won[c] = kNoWinner;
          for (std::int64_t h = h0; h < h1; ++h) {
            for (std::int64_t w = w0; w < w1; ++w) {
              const float* pixel = x + (top + h) * row + (left + w) * kBlock;
              const int index = static_cast<int>(h * s.width + w);
              for (int c = 0; c < kBlock; ++c) {
                const bool higher = pixel[c] > best[c];
                best[c] = higher ? pixel[c] : best[c];
                won[c] = higher ? index : won[c];
              }
            }
          }
          for (int c = 0; c < kBlock; ++c) y[c] = best[c];
          if (winners != nullptr) {
            for (int c = 0; c < kBlock; ++c) winners[c] = static_cast<std::uint8_t>(won[c]);
            winners += kBlock;
          }
        } else {
          for (std::int64_t c = 0; c < block; ++c) {
            float best = lowest;
            std::uint8_t won = kNoWinner;
            for (std::int64_t h = h0; h < h1; ++h) {
              for (std::int64_t w = w0; w < w1; ++w) {
                const float value = x[(top + h) * row + (left + w) * block + c];
                if (value > best) {
                  best = value;
                  won = static_cast<std::uint8_t>(h * s.width + w);
                }
              }
            }
            y[c] = best;
            if (winners != nullptr) *winners++ = won;
          }
        }
      }
    }
  }
}

// Windows that tile the image: every pixel belongs to one window at most, so each is written once.
template <int kBlock>
[[gnu::always_inline]] inline void backward_tiles(const MaxPoolShape& s, const float* dy, const std::uint8_t* winners,
                                                  float* dx) {
  const std::int64_t block = kBlock > 0 ? kBlock : s.in.block;
  const std::int64_t row = s.in.width * block;
  const std::int64_t planes = s.in.samples * s.in.outer;
  for (std::int64_t plane = 0; plane < planes; ++plane, dx += s.in.height * row) {
    for (std::int64_t oh = 0; oh < s.out_height; ++oh) {
      for (std::int64_t h = 0; h < s.height; ++h) {
        float* line = dx + (oh * s.height + h) * row;
        const float* dy_pixel = dy + oh * s.out_width * block;
        const std::uint8_t* winner = winners + oh * s.out_width * block;
        for (std::int64_t ow = 0; ow < s.out_width; ++ow, dy_pixel += block, winner += block) {
          for (std::int64_t w = 0; w < s.width; ++w, line += block) {
            const int index = static_cast<int>(h * s.width + w);
            for (std::int64_t c = 0; c < block; ++c) line[c] = winner[c] == index ? dy_pixel[c] : 0.0F;
          }
        }
        std::fill(line, dx + (oh * s.height + h + 1) * row, 0.0F);  // columns that no window reaches
      }
    }
    std::fill(dx + s.out_height * s.height * row, dx + s.in.height * row, 0.0F);
    dy += s.out_height * s.out_width * block;
    winners += s.out_height * s.out_width * block;
  }
}

void backward_any(const MaxPoolShape& s, const float* dy, const std::uint8_t* winners, float* dx) {
  const std::int64_t row = s.in.width * s.in.block;
  std::fill(dx, dx + s.in.samples * s.in.sample_size(), 0.0F);
  for (std::int64_t plane = 0; plane < s.in.samples * s.in.outer; ++plane, dx += s.in.height * row) {
    for (std::int64_t oh = 0; oh < s.out_height; ++oh) {
      for (std::int64_t ow = 0; ow < s.out_width; ++ow) {
        for (std::int64_t c = 0; c < s.in.block; ++c, ++dy, ++winners) {
          if (*winners == kNoWinner) continue;
          const std::int64_t h = oh * s.stride_height - s.before_height + *winners / s.width;
          const std::int64_t w = ow * s.stride_width - s.before_width + *winners % s.width;
          dx[h * row + w * s.in.block + c] += *dy;
        }
      }
    }
  }
}

CONVOKE_MULTIVERSION
void forward_any_block(const MaxPoolShape& s, const float* x, float* y, std::uint8_t* winners, bool relu) {
  switch (s.in.block) {
    case 16: return forward<16>(s, x, y, winners, relu);
    case 8: return forward<8>(s, x, y, winners, relu);
    default: return forward<0>(s, x, y, winners, relu);
  }
}

CONVOKE_MULTIVERSION
void backward_tiles_any_block(const MaxPoolShape& s, const float* dy, const std::uint8_t* winners, float* dx) {
  switch (s.in.block) {
    case 16: return backward_tiles<16>(s, dy, winners, dx);
    case 8: return backward_tiles<8>(s, dy, winners, dx);
    default: return backward_tiles<0>(s, dy, winners, dx);
  }
}

}  // namespace

void max_pool_forward(const MaxPoolShape& shape, const float* x, float* y, std::uint8_t* winners, bool relu) {
  forward_any_block(shape, x, y, winners, relu);
}

void max_pool_backward(const MaxPoolShape& shape, const float* dy, const std::uint8_t* winners, float* dx) {
  const bool tiles = shape.height == shape.stride_height && shape.width == shape.stride_width &&
                     shape.before_height == 0 && shape.before_width == 0 &&
                     shape.out_height * shape.height <= shape.in.height &&
                     shape.out_width * shape.width <= shape.in.width;
  if (tiles) {
    backward_tiles_any_block(shape, dy, winners, dx);
  } else {
    backward_any(shape, dy, winners, dx);
  }
}

}  // namespace convoke::nn
