#include "nn/kernels/noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "convoke/core/multiversion.hpp"

namespace convoke::nn {

namespace {

std::array<double, 4> normals(const PhiloxCounter& words) {
  std::array<double, 4> z{};
  for (std::size_t i = 0; i < 4; i += 2) {
    const double r = std::sqrt(-2 * std::log((words[i] + 1.0) * 0x1p-32));
    const double t = 2 * std::numbers::pi * words[i + 1] * 0x1p-32;
    z[i] = r * std::cos(t);
    z[i + 1] = r * std::sin(t);
  }
  return z;
}

template <class T>
void body(const ChannelBlocks& s, const T* x, double deviation, PhiloxKey key, std::uint32_t stream,
          const std::uint32_t* samples, T* y) {
  for (std::int64_t n = 0; n < s.samples; ++n) {
    const std::int64_t base = n * s.sample_size();
    if (s.padded_channels() != s.channels && y != x) std::fill(y + base, y + base + s.sample_size(), T{});
    std::array<double, 4> z{};
    std::int64_t e = 0;
    for (std::int64_t p = 0; p < s.pixels(); ++p) {
      for (std::int64_t c = 0; c < s.channels; ++c, ++e) {
        if (e % 4 == 0)
          z = normals(philox4x32({static_cast<std::uint32_t>(e / 4), stream, samples[n], 0}, key));
        const std::int64_t at = base + (c / s.block * s.pixels() + p) * s.block + c % s.block;
        y[at] =
            static_cast<float>(x[at]) + static_cast<float>(deviation * z[static_cast<std::size_t>(e % 4)]);
      }
    }
  }
}

}  // namespace

void add_noise(const ChannelBlocks& shape, const float* x, double deviation, PhiloxKey key,
               std::uint32_t stream, const std::uint32_t* samples, float* y) {
  body(shape, x, deviation, key, stream, samples, y);
}
void add_noise(const ChannelBlocks& shape, const Bf16* x, double deviation, PhiloxKey key,
               std::uint32_t stream, const std::uint32_t* samples, Bf16* y) {
  body(shape, x, deviation, key, stream, samples, y);
}

namespace {

constexpr int kCounters = 16;          // parallel Philox calls, one vector register per word
constexpr int kChunk = 4 * kCounters;  // elements that they cover

// Computes the words of counters first..first+15, word w of counter i at words[w][i]: a vectorized form of
// philox4x32 in core/random.hpp.
[[gnu::always_inline]] inline void philox_chunk(std::uint32_t first, std::uint32_t stream,
                                                std::uint32_t sample, PhiloxKey key,
                                                std::uint32_t (&words)[4][kCounters]) {
  for (int i = 0; i < kCounters; ++i) {
    words[0][i] = first + static_cast<std::uint32_t>(i);
    words[1][i] = stream;
    words[2][i] = sample;
    words[3][i] = 0;
  }
  philox4x32(words, key);
}

/// N neighboring elements whose words are `words`.
template <int N, class T>
[[gnu::always_inline]] inline void drop(const std::uint32_t* words, std::uint32_t threshold, float factor,
                                        const T* x, T* y, std::uint8_t* keep) {
  int kept[N];
  const In<T, N> in(x);
  Out<T, N> out(y);
#pragma omp simd
  for (int i = 0; i < N; ++i) {
    kept[i] = words[i] >= threshold ? 1 : 0;
    out[i] = words[i] >= threshold ? in[i] * factor : 0.0F;
  }
  out.put();
#pragma omp simd
  for (int i = 0; i < N; ++i) keep[i] = static_cast<std::uint8_t>(kept[i]);
}

template <class T>
[[gnu::always_inline]] inline void forward(const ChannelBlocks& shape, const T* x, std::uint32_t threshold,
                                           float factor, PhiloxKey key, std::uint32_t stream,
                                           const std::uint32_t* samples, T* y, std::uint8_t* keep) {
  const std::int64_t elements = shape.channels * shape.pixels();
  const std::int64_t block = shape.block, plane = shape.pixels() * block;
  // A piece of channels lies in one block, and its words next to each other.
  const auto divides = [&](int piece) { return block % piece == 0 && shape.channels % piece == 0; };
  const int piece = divides(16) ? 16 : divides(8) ? 8 : 1;
  for (std::int64_t n = 0; n < shape.samples; ++n) {
    const std::int64_t base = n * shape.sample_size();
    if (shape.padded_channels() != shape.channels) {  // padding stays zero
      std::fill(y + base, y + base + shape.sample_size(), T{});
    }
    std::int64_t pixel = 0, channel = 0;
    for (std::int64_t first = 0; first < elements; first += kChunk) {
      std::uint32_t words[4][kCounters];
      philox_chunk(static_cast<std::uint32_t>(first / 4), stream, samples[n], key, words);
      const std::int64_t count = std::min<std::int64_t>(kChunk, elements - first);
      for (std::int64_t e = 0; e < count;) {
        const std::int64_t at = base + channel / block * plane + pixel * block + channel % block;
        const std::uint32_t* word = &words[e / kCounters][e % kCounters];
        if (piece == 16) {
          drop<16>(word, threshold, factor, x + at, y + at, keep + at);
        } else if (piece == 8) {
          drop<8>(word, threshold, factor, x + at, y + at, keep + at);
        } else {
          drop<1>(word, threshold, factor, x + at, y + at, keep + at);
        }
        e += piece;
        channel += piece;
        if (channel == shape.channels) {
          channel = 0;
          ++pixel;
        }
      }
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void backward(const T* dy, const std::uint8_t* keep, float factor, T* dx,
                                            std::size_t n) {
  if constexpr (std::is_same_v<T, float>) {
    for (std::size_t i = 0; i < n; ++i) dx[i] = keep[i] != 0 ? dy[i] * factor : 0.0F;
    return;
  }
  for_each_sixteen(
      n, [=](auto width, std::size_t i) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        const In<T, kWidth> in(dy + i);
        Out<T, kWidth> out(dx + i);
#pragma omp simd
        for (int c = 0; c < kWidth; ++c)
          out[c] = keep[i + static_cast<std::size_t>(c)] != 0 ? in[c] * factor : 0.0F;
        out.put();
      });
}

// Words below it are dropped: all but one at the most, because 2^32 would be 0.
std::uint32_t threshold_of(double rate) {
  return static_cast<std::uint32_t>(std::min(std::llround(rate * 0x1p32), 0xFFFFFFFFLL));
}
float scale_of(double rate) { return static_cast<float>(1.0 / (1.0 - rate)); }

}  // namespace

CONVOKE_MULTIVERSION
void dropout_forward(const ChannelBlocks& shape, const float* x, double rate, PhiloxKey key,
                     std::uint32_t stream, const std::uint32_t* samples, float* y, std::uint8_t* keep) {
  forward(shape, x, threshold_of(rate), scale_of(rate), key, stream, samples, y, keep);
}
CONVOKE_MULTIVERSION_BF16
void dropout_forward(const ChannelBlocks& shape, const Bf16* x, double rate, PhiloxKey key,
                     std::uint32_t stream, const std::uint32_t* samples, Bf16* y, std::uint8_t* keep) {
  forward(shape, x, threshold_of(rate), scale_of(rate), key, stream, samples, y, keep);
}

CONVOKE_MULTIVERSION
void dropout_backward(const float* dy, const std::uint8_t* keep, double rate, float* dx, std::size_t n) {
  backward(dy, keep, scale_of(rate), dx, n);
}
CONVOKE_MULTIVERSION_BF16
void dropout_backward(const Bf16* dy, const std::uint8_t* keep, double rate, Bf16* dx, std::size_t n) {
  backward(dy, keep, scale_of(rate), dx, n);
}

}  // namespace convoke::nn
