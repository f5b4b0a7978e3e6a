#include "nn/kernels/batch_norm.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "convoke/core/multiversion.hpp"
#include "nn/kernels/max_pool.hpp"

namespace convoke::nn {
namespace {

// All inner loops run over a stretch of at most kMaxBlock channels that lie side by side. The stretch is a template
// parameter where it is oneDNN's block, so that it becomes one vector register; 0 means counted at run time.
constexpr int kMaxBlock = 16;
// Independent accumulators, so that sums are not bound by the latency of an addition.
constexpr int kChains = 4;

/// One stretch of channels of one lane: where its planes are.
struct Stretch {
  std::int64_t channel = 0;        ///< first channel
  std::int64_t count = 0;          ///< channels
  std::int64_t in_first = 0;       ///< offset of the first pixel in x, and in y
  std::int64_t out_first = 0;
};

template <class F>
[[gnu::always_inline]] inline void for_each_stretch(const BatchNormShape& s, std::int64_t lane, const F& f) {
  const std::int64_t out_pixels = s.out_height() * s.out_width();
  for (std::int64_t o = 0; o < s.in.outer; ++o) {
    for (std::int64_t c = 0; c < s.in.block; c += kMaxBlock) {
      f(Stretch{o * s.in.block + c, std::min<std::int64_t>(kMaxBlock, s.in.block - c),
                lane * s.lane * s.in.sample_size() + o * s.in.pixels() * s.in.block + c,
                lane * s.lane * s.in.outer * out_pixels * s.in.block + o * out_pixels * s.in.block + c});
    }
  }
}

//   K = x[0];  mean = K + sum(x - K) / M;  var = (sum (x - K)^2 - sum(x - K)^2 / M) / M
// One pass. Shifting by a sample keeps the difference of squares well conditioned; floats are summed over one plane
// only, doubles over planes.
template <int kBlock>
[[gnu::always_inline]] inline void statistics(const BatchNormShape& s, const Stretch& at, const float* x, float* mean,
                                              float* variance) {
  const std::int64_t n = kBlock > 0 ? kBlock : at.count;
  const std::int64_t step = s.in.block, pixels = s.in.pixels(), sample = s.in.sample_size();
  float shift[kMaxBlock];
  double total[kMaxBlock] = {}, total_squares[kMaxBlock] = {};
  for (std::int64_t c = 0; c < n; ++c) shift[c] = x[at.in_first + c];
  for (std::int64_t i = 0; i < s.lane; ++i) {
    const float* plane = x + at.in_first + i * sample;
    float sum[kChains][kMaxBlock] = {}, squares[kChains][kMaxBlock] = {};
    std::int64_t p = 0;
    for (; p + kChains <= pixels; p += kChains) {
      for (int k = 0; k < kChains; ++k) {
        for (std::int64_t c = 0; c < n; ++c) {
          const float d = plane[(p + k) * step + c] - shift[c];
          sum[k][c] += d;
          squares[k][c] += d * d;
        }
      }
    }
    for (; p < pixels; ++p) {
      for (std::int64_t c = 0; c < n; ++c) {
        const float d = plane[p * step + c] - shift[c];
        sum[0][c] += d;
        squares[0][c] += d * d;
      }
    }
    for (int k = 0; k < kChains; ++k) {
      for (std::int64_t c = 0; c < n; ++c) {
        total[c] += static_cast<double>(sum[k][c]);
        total_squares[c] += static_cast<double>(squares[k][c]);
      }
    }
  }
  const auto count = static_cast<double>(s.lane * pixels);
  for (std::int64_t c = 0; c < n; ++c) {
    const double off = total[c] / count;
    mean[c] = static_cast<float>(static_cast<double>(shift[c]) + off);
    variance[c] = static_cast<float>(std::max(0.0, total_squares[c] / count - off * off));
  }
}

//   y = pool(relu(a x + b)),  a = gamma * scale,  b = beta - mean * a
template <int kBlock, bool kPooled>
[[gnu::always_inline]] inline void normalise(const BatchNormShape& s, const Stretch& at, const float* x,
                                             const float* gamma, const float* beta, const float* mean,
                                             const float* scale, std::uint8_t* winners, float* x_hat, float* y) {
  const std::int64_t n = kBlock > 0 ? kBlock : at.count;
  const std::int64_t step = s.in.block, row = s.in.width * step;
  float a[kMaxBlock], b[kMaxBlock], centre[kMaxBlock], spread[kMaxBlock];
  for (std::int64_t c = 0; c < n; ++c) {
    a[c] = gamma[c] * scale[c];
    b[c] = beta[c] - mean[c] * a[c];
    centre[c] = mean[c];
    spread[c] = scale[c];
  }
  const float floor = s.relu ? 0.0F : -INFINITY;
  for (std::int64_t i = 0; i < s.lane; ++i) {
    const float* plane = x + at.in_first + i * s.in.sample_size();
    if constexpr (!kPooled) {
      float* out = y + at.out_first + i * s.in.sample_size();
      for (std::int64_t p = 0; p < s.in.pixels(); ++p) {
        for (std::int64_t c = 0; c < n; ++c) {
          const float value = plane[p * step + c] * a[c] + b[c];
          out[p * step + c] = value < floor ? floor : value;
        }
      }
    } else {
      const std::int64_t out_sample = s.in.outer * s.out_height() * s.out_width() * step;
      std::int64_t out = at.out_first + i * out_sample;
      for (std::int64_t oh = 0; oh < s.out_height(); ++oh) {
        for (std::int64_t ow = 0; ow < s.out_width(); ++ow, out += step) {
          float best[kMaxBlock], best_x[kMaxBlock];
          int won[kMaxBlock];
          for (std::int64_t c = 0; c < n; ++c) best[c] = floor, best_x[c] = centre[c], won[c] = kNoWinner;
          for (std::int64_t h = 0; h < s.pool_height; ++h) {
            for (std::int64_t w = 0; w < s.pool_width; ++w) {
              const float* pixel = plane + (oh * s.pool_height + h) * row + (ow * s.pool_width + w) * step;
              const int index = static_cast<int>(h * s.pool_width + w);
              for (std::int64_t c = 0; c < n; ++c) {
                const float value = pixel[c] * a[c] + b[c];
                const bool higher = value > best[c];
                best[c] = higher ? value : best[c];
                best_x[c] = higher ? pixel[c] : best_x[c];
                won[c] = higher ? index : won[c];
              }
            }
          }
          for (std::int64_t c = 0; c < n; ++c) y[out + c] = best[c];
          if (winners != nullptr) {
            for (std::int64_t c = 0; c < n; ++c) x_hat[out + c] = (best_x[c] - centre[c]) * spread[c];
            for (std::int64_t c = 0; c < n; ++c) winners[out + c] = static_cast<std::uint8_t>(won[c]);
          }
        }
      }
    }
  }
}

//   d beta = sum g,  d gamma = sum g x_hat,  where g = dy where ReLU and pooling let it through
template <int kBlock, bool kPooled>
[[gnu::always_inline]] inline void reduce(const BatchNormShape& s, const Stretch& at, const float* x, const float* dy,
                                          const float* a, const float* b, const float* mean, const float* scale,
                                          const BatchNormMemory& memory, double* dgamma, double* dbeta) {
  const std::int64_t n = kBlock > 0 ? kBlock : at.count;
  const std::int64_t step = s.in.block;
  const std::int64_t out_pixels = s.out_height() * s.out_width();
  for (std::int64_t c = 0; c < n; ++c) dgamma[c] = dbeta[c] = 0;
  for (std::int64_t i = 0; i < s.lane; ++i) {
    const std::int64_t out = at.out_first + i * s.in.outer * out_pixels * step;
    const float* plane = x + at.in_first + i * s.in.sample_size();
    float sum[kChains][kMaxBlock] = {}, product[kChains][kMaxBlock] = {};
    const auto take = [&](int k, std::int64_t p) __attribute__((always_inline)) {
      for (std::int64_t c = 0; c < n; ++c) {
        float g = dy[out + p * step + c];
        float hat = 0;
        if constexpr (kPooled) {
          g = memory.winners[out + p * step + c] == kNoWinner ? 0.0F : g;
          hat = memory.x_hat[out + p * step + c];
        } else {
          const float value = plane[p * step + c];
          g = !s.relu || value * a[c] + b[c] > 0 ? g : 0.0F;
          hat = (value - mean[c]) * scale[c];
        }
        sum[k][c] += g;
        product[k][c] += g * hat;
      }
    };
    std::int64_t p = 0;
    for (; p + kChains <= out_pixels; p += kChains) {
      for (int k = 0; k < kChains; ++k) take(k, p + k);
    }
    for (; p < out_pixels; ++p) take(0, p);
    for (int k = 0; k < kChains; ++k) {
      for (std::int64_t c = 0; c < n; ++c) {
        dbeta[c] += static_cast<double>(sum[k][c]);
        dgamma[c] += static_cast<double>(product[k][c]);
      }
    }
  }
}

//   dx = a (g - d beta / M - x_hat d gamma / M) = a g - k1 - k2 x
template <int kBlock, bool kPooled>
[[gnu::always_inline]] inline void spread(const BatchNormShape& s, const Stretch& at, const float* x, const float* dy,
                                          const float* a, const float* b, const float* k1, const float* k2,
                                          const BatchNormMemory& memory, float* dx) {
  const std::int64_t n = kBlock > 0 ? kBlock : at.count;
  const std::int64_t step = s.in.block, row = s.in.width * step;
  for (std::int64_t i = 0; i < s.lane; ++i) {
    const float* plane = x + at.in_first + i * s.in.sample_size();
    float* diff = dx + at.in_first + i * s.in.sample_size();
    if constexpr (!kPooled) {
      const float* g_plane = dy + at.out_first + i * s.in.sample_size();
      for (std::int64_t p = 0; p < s.in.pixels(); ++p) {
        for (std::int64_t c = 0; c < n; ++c) {
          const float value = plane[p * step + c];
          const float g = !s.relu || value * a[c] + b[c] > 0 ? g_plane[p * step + c] : 0.0F;
          diff[p * step + c] = a[c] * g - (k1[c] + k2[c] * value);
        }
      }
    } else {
      const std::int64_t out_row = s.out_width() * step;
      const std::int64_t out = at.out_first + i * s.in.outer * s.out_height() * out_row;
      for (std::int64_t h = 0; h < s.in.height; ++h) {
        const std::int64_t oh = h / s.pool_height;
        const bool inside = oh < s.out_height();
        for (std::int64_t w = 0; w < s.in.width; ++w) {
          const std::int64_t ow = w / s.pool_width;
          const float* pixel = plane + h * row + w * step;
          float* to = diff + h * row + w * step;
          if (inside && ow < s.out_width()) {
            const int index = static_cast<int>(h % s.pool_height * s.pool_width + w % s.pool_width);
            const float* g = dy + out + oh * out_row + ow * step;
            const std::uint8_t* winner = memory.winners + out + oh * out_row + ow * step;
            for (std::int64_t c = 0; c < n; ++c) {
              to[c] = (winner[c] == index ? a[c] * g[c] : 0.0F) - (k1[c] + k2[c] * pixel[c]);
            }
          } else {
            for (std::int64_t c = 0; c < n; ++c) to[c] = -(k1[c] + k2[c] * pixel[c]);
          }
        }
      }
    }
  }
}

template <int kBlock, bool kPooled>
[[gnu::always_inline]] inline void forward_lanes(const BatchNormShape& s, const float* x, const float* gamma,
                                                 const float* beta, float epsilon, const BatchNormMemory& memory,
                                                 float* y) {
  const std::int64_t padded = s.in.padded_channels();
  for (std::int64_t lane = 0; lane < s.lanes(); ++lane) {
    for_each_stretch(s, lane, [&](const Stretch& at) __attribute__((always_inline)) {
      const std::int64_t c0 = lane * padded + at.channel;
      statistics<kBlock>(s, at, x, memory.mean + c0, memory.variance + c0);
      for (std::int64_t c = 0; c < at.count; ++c) {
        memory.scale[c0 + c] = 1.0F / std::sqrt(memory.variance[c0 + c] + epsilon);
      }
      normalise<kBlock, kPooled>(s, at, x, gamma + at.channel, beta + at.channel, memory.mean + c0,
                                 memory.scale + c0, memory.winners, memory.x_hat, y);
    });
  }
}

template <int kBlock, bool kPooled>
[[gnu::always_inline]] inline void backward_lanes(const BatchNormShape& s, const float* x, const float* dy,
                                                  const float* gamma, const float* beta,
                                                  const BatchNormMemory& memory, float* dx, float* dgamma,
                                                  float* dbeta) {
  const std::int64_t padded = s.in.padded_channels();
  std::fill(dgamma, dgamma + padded, 0.0F);
  std::fill(dbeta, dbeta + padded, 0.0F);
  const auto count = static_cast<double>(s.lane * s.in.pixels());
  for (std::int64_t lane = 0; lane < s.lanes(); ++lane) {
    for_each_stretch(s, lane, [&](const Stretch& at) __attribute__((always_inline)) {
      const float* mean = memory.mean + lane * padded + at.channel;
      const float* scale = memory.scale + lane * padded + at.channel;
      float a[kMaxBlock], b[kMaxBlock], k1[kMaxBlock], k2[kMaxBlock];
      for (std::int64_t c = 0; c < at.count; ++c) {
        a[c] = gamma[at.channel + c] * scale[c];
        b[c] = beta[at.channel + c] - mean[c] * a[c];
      }
      double sum_hat[kMaxBlock], sum[kMaxBlock];
      reduce<kBlock, kPooled>(s, at, x, dy, a, b, mean, scale, memory, sum_hat, sum);
      for (std::int64_t c = 0; c < at.count; ++c) {
        dgamma[at.channel + c] += static_cast<float>(sum_hat[c]);
        dbeta[at.channel + c] += static_cast<float>(sum[c]);
        k2[c] = static_cast<float>(static_cast<double>(a[c]) * static_cast<double>(scale[c]) * sum_hat[c] / count);
        k1[c] = static_cast<float>(static_cast<double>(a[c]) * sum[c] / count) - mean[c] * k2[c];
      }
      spread<kBlock, kPooled>(s, at, x, dy, a, b, k1, k2, memory, dx);
    });
  }
}

CONVOKE_MULTIVERSION
void forward_dispatch(const BatchNormShape& s, const float* x, const float* gamma, const float* beta, float epsilon,
                      const BatchNormMemory& memory, float* y) {
  const bool full = s.in.block % kMaxBlock == 0;
  if (s.pooled()) {
    if (full) return forward_lanes<kMaxBlock, true>(s, x, gamma, beta, epsilon, memory, y);
    return forward_lanes<0, true>(s, x, gamma, beta, epsilon, memory, y);
  }
  if (full) return forward_lanes<kMaxBlock, false>(s, x, gamma, beta, epsilon, memory, y);
  forward_lanes<0, false>(s, x, gamma, beta, epsilon, memory, y);
}

CONVOKE_MULTIVERSION
void backward_dispatch(const BatchNormShape& s, const float* x, const float* dy, const float* gamma,
                       const float* beta, const BatchNormMemory& memory, float* dx, float* dgamma, float* dbeta) {
  const bool full = s.in.block % kMaxBlock == 0;
  if (s.pooled()) {
    if (full) return backward_lanes<kMaxBlock, true>(s, x, dy, gamma, beta, memory, dx, dgamma, dbeta);
    return backward_lanes<0, true>(s, x, dy, gamma, beta, memory, dx, dgamma, dbeta);
  }
  if (full) return backward_lanes<kMaxBlock, false>(s, x, dy, gamma, beta, memory, dx, dgamma, dbeta);
  backward_lanes<0, false>(s, x, dy, gamma, beta, memory, dx, dgamma, dbeta);
}

template <bool kPooled>
void inference(const BatchNormShape& s, const float* x, const float* gamma, const float* beta, const float* mean,
               const float* scale, float* y) {
  for (std::int64_t lane = 0; lane < s.lanes(); ++lane) {
    for_each_stretch(s, lane, [&](const Stretch& at) __attribute__((always_inline)) {
      normalise<0, kPooled>(s, at, x, gamma + at.channel, beta + at.channel, mean + at.channel, scale + at.channel,
                            nullptr, nullptr, y);
    });
  }
}

CONVOKE_MULTIVERSION
void inference_dispatch(const BatchNormShape& s, const float* x, const float* gamma, const float* beta,
                        const float* mean, const float* scale, float* y) {
  if (s.pooled()) return inference<true>(s, x, gamma, beta, mean, scale, y);
  inference<false>(s, x, gamma, beta, mean, scale, y);
}

}  // namespace

void batch_norm_forward(const BatchNormShape& shape, const float* x, const float* gamma, const float* beta,
                        float epsilon, const BatchNormMemory& memory, float* y) {
  forward_dispatch(shape, x, gamma, beta, epsilon, memory, y);
}

void batch_norm_inference(const BatchNormShape& shape, const float* x, const float* gamma, const float* beta,
                          const float* mean, const float* variance, float epsilon, float* y) {
  std::vector<float> scale(static_cast<std::size_t>(shape.in.padded_channels()));
  for (std::size_t c = 0; c < scale.size(); ++c) scale[c] = 1.0F / std::sqrt(variance[c] + epsilon);
  inference_dispatch(shape, x, gamma, beta, mean, scale.data(), y);
}

void batch_norm_backward(const BatchNormShape& shape, const float* x, const float* dy, const float* gamma,
                         const float* beta, const BatchNormMemory& memory, float* dx, float* dgamma, float* dbeta) {
  backward_dispatch(shape, x, dy, gamma, beta, memory, dx, dgamma, dbeta);
}

}  // namespace convoke::nn
