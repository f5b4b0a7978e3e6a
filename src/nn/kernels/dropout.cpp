#include "nn/kernels/dropout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "nn/kernels/vectors.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace convoke::nn {
namespace {

// Words below it are dropped: all but one at the most, because 2^32 would be 0.
std::uint32_t threshold_of(double rate) {
  return static_cast<std::uint32_t>(std::min(std::llround(rate * 0x1p32), 0xFFFFFFFFLL));
}
float scale_of(double rate) { return static_cast<float>(1.0 / (1.0 - rate)); }

constexpr int kCounters = 16;          // of one chunk
constexpr int kChunk = 4 * kCounters;  // elements that they cover
using Words = std::uint32_t[4][kCounters];

// Computes the words of counters first..first+15, word w of counter i at words[w][i].
#ifdef __AVX2__
// Words in lanes of 64 bits, of which a multiplication reads the lower halves. GCC 12 compiles the loops of
// philox4x32 in core/random.hpp to three to five times as many instructions.
constexpr int kLanes = kVectorFloats / 2;
using Wide [[gnu::vector_size(8 * kLanes)]] = std::uint64_t;
using Narrow [[gnu::vector_size(4 * kLanes)]] = std::uint32_t;
[[gnu::always_inline]] inline Wide multiply_lower(const Wide& a, std::uint64_t b) {
  const Wide y = Wide{} + b;
#ifdef __AVX512F__  // without a mask, GCC 12 warns of an uninitialized value
  return reinterpret_cast<Wide>(
      _mm512_maskz_mul_epu32(0xFF, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(y)));
#else
  return reinterpret_cast<Wide>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(y)));
#endif
}

[[gnu::always_inline]] inline void philox_chunk(std::uint32_t first, std::uint32_t stream,
                                                std::uint32_t sample, std::uint32_t repeat, PhiloxKey key,
                                                Words& words) {
  Wide lane{};
  for (int i = 0; i < kLanes; ++i) lane[i] = static_cast<std::uint64_t>(i);
  constexpr int kGroups = 2;  // of counters, whose rounds overlap
  for (int at = 0; at < kCounters; at += kGroups * kLanes) {
    Wide w[kGroups][4];
#pragma GCC unroll 2
    for (int g = 0; g < kGroups; ++g) {
      w[g][0] = lane + (first + static_cast<std::uint32_t>(at + g * kLanes));
      w[g][1] = Wide{} + stream;
      w[g][2] = Wide{} + sample;
      w[g][3] = Wide{} + repeat;
    }
    PhiloxKey round_key = key;
    for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) {
        const Wide a = multiply_lower(w[g][0], 0xD2511F53), b = multiply_lower(w[g][2], 0xCD9E8D57);
        w[g][0] = (b >> 32) ^ w[g][1] ^ round_key[0];
        w[g][1] = b;
        w[g][2] = (a >> 32) ^ w[g][3] ^ round_key[1];
        w[g][3] = a;
      }
      round_key[0] += 0x9E3779B9;
      round_key[1] += 0xBB67AE85;
    }
#pragma GCC unroll 8
    for (int i = 0; i < 4 * kGroups; ++i) {
      const auto narrow = __builtin_convertvector(w[i / 4][i % 4], Narrow);
      std::memcpy(&words[i % 4][at + i / 4 * kLanes], &narrow, sizeof narrow);
    }
  }
}
#else
[[gnu::always_inline]] inline void philox_chunk(std::uint32_t first, std::uint32_t stream,
                                                std::uint32_t sample, std::uint32_t repeat, PhiloxKey key,
                                                Words& words) {
  for (std::uint32_t i = 0; i < kCounters; ++i) {
    words[0][i] = first + i;
    words[1][i] = stream;
    words[2][i] = sample;
    words[3][i] = repeat;
  }
  philox4x32(words, key);
}
#endif

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
             const std::uint32_t* samples, const std::uint32_t* repeats, T* y, std::uint8_t* keep) {
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
    const std::uint32_t repeat = repeats == nullptr ? 0 : repeats[n];
    std::int64_t at = base, pixel = 0, channel = 0, within = 0;  // within the block of channels
    for (std::int64_t first = 0; first < elements; first += kChunk) {
      Words words;
      philox_chunk(static_cast<std::uint32_t>(first / 4), stream, samples[n], repeat, key, words);
      const std::int64_t count = std::min<std::int64_t>(kChunk, elements - first);
      for (std::int64_t e = 0; e < count;) {
        const std::uint32_t* word = &words[e / kCounters][e % kCounters];
        if (piece == 16) {
          drop<16>(word, threshold, factor, x + at, y + at, keep + at);
        } else if (piece == 8) {
          drop<8>(word, threshold, factor, x + at, y + at, keep + at);
        } else {
          drop<1>(word, threshold, factor, x + at, y + at, keep + at);
        }
        e += piece;
        at += piece;
        channel += piece;
        within += piece;
        if (channel == shape.channels) {
          channel = within = 0;
          at = base + ++pixel * block;
        } else if (within == block) {
          within = 0;
          at += plane - block;
        }
      }
    }
  }
}

template <class T>
void backward(const T* dy, const std::uint8_t* keep, double rate, T* dx, std::size_t n) {
  const float factor = scale_of(rate);
  if constexpr (std::is_same_v<T, float>) {
#pragma omp simd
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
