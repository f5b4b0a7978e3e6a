#include "nn/kernels/dropout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "nn/kernels/instruction_sets.hpp"

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

#ifdef __AVX2__
// Words in lanes of 64 bits, of which a multiplication reads the lower halves. GCC 12 compiles the loops of
// philox4x32 in core/random.hpp to three to five times as many instructions.
constexpr int kWide = kThisSet == InstructionSet::kAvx512 ? 8 : 4;
using Wide [[gnu::vector_size(8 * kWide)]] = std::uint64_t;
using Narrow [[gnu::vector_size(4 * kWide)]] = std::uint32_t;
[[gnu::always_inline]] inline Wide multiply_lower(const Wide& a, std::uint64_t b) {
#ifdef __AVX512F__  // without a mask, GCC 12 warns of an uninitialized value
  return reinterpret_cast<Wide>(_mm512_maskz_mul_epu32(0xFF, reinterpret_cast<__m512i>(a),
                                                       _mm512_set1_epi64(static_cast<long long>(b))));
#else
  return reinterpret_cast<Wide>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), _mm256_set1_epi64x(static_cast<long long>(b))));
#endif
}

[[gnu::always_inline]] inline void philox(Words& words, PhiloxKey key) {
  constexpr int kGroups = 2;  // they stay in registers
  for (int at = 0; at < kCounters; at += kGroups * kWide) {
    Wide w[4][kGroups];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) {
        Narrow from;
        std::memcpy(&from, &words[i][at + g * kWide], sizeof from);
        w[i][g] = __builtin_convertvector(from, Wide);
      }
    }
    PhiloxKey round_key = key;
    for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) {
        const Wide a = multiply_lower(w[0][g], 0xD2511F53), b = multiply_lower(w[2][g], 0xCD9E8D57);
        w[0][g] = (b >> 32) ^ w[1][g] ^ round_key[0];
        w[1][g] = b;
        w[2][g] = (a >> 32) ^ w[3][g] ^ round_key[1];
        w[3][g] = a;
      }
      round_key[0] += 0x9E3779B9;
      round_key[1] += 0xBB67AE85;
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) {
        const Narrow to = __builtin_convertvector(w[i][g], Narrow);
        std::memcpy(&words[i][at + g * kWide], &to, sizeof to);
      }
    }
  }
}
#else
[[gnu::always_inline]] inline void philox(Words& words, PhiloxKey key) { philox4x32(words, key); }
#endif

// Computes the words of counters first..first+15, word w of counter i at words[w][i].
[[gnu::always_inline]] inline void philox_chunk(std::uint32_t first, std::uint32_t stream,
                                                std::uint32_t sample, PhiloxKey key, Words& words) {
  for (int i = 0; i < kCounters; ++i) {
    words[0][i] = first + static_cast<std::uint32_t>(i);
    words[1][i] = stream;
    words[2][i] = sample;
    words[3][i] = 0;
  }
  philox(words, key);
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
    std::int64_t at = base, pixel = 0, channel = 0, within = 0;  // within the block of channels
    for (std::int64_t first = 0; first < elements; first += kChunk) {
      Words words;
      philox_chunk(static_cast<std::uint32_t>(first / 4), stream, samples[n], key, words);
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
