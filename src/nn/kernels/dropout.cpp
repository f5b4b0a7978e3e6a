#include "nn/kernels/dropout.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "nn/kernels/instruction_sets.hpp"

namespace convoke::nn {
namespace {

// Words below it are dropped: all but one at the most, because 2^32 would be 0.
std::uint32_t threshold_of(double rate) {
  return static_cast<std::uint32_t>(std::min(std::llround(rate * 0x1p32), 0xFFFFFFFFLL));
}
float scale_of(double rate) { return static_cast<float>(1.0 / (1.0 - rate)); }

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
void forward(const ChannelBlocks& shape, const T* x, double rate, PhiloxKey key, std::uint32_t stream,
             const std::uint32_t* samples, T* y, std::uint8_t* keep) {
  const std::uint32_t threshold = threshold_of(rate);
  const float factor = scale_of(rate);
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
void backward(const T* dy, const std::uint8_t* keep, double rate, T* dx, std::size_t n) {
  const float factor = scale_of(rate);
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

}  // namespace

CONVOKE_KERNELS(DropoutKernels, forward, backward)

}  // namespace convoke::nn
