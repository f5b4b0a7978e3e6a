#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace convoke::nn {

/// The upper half of a float: 8 bits of exponent, 8 of precision. Conversion from float rounds to nearest,
/// ties to even (as the processors' own instructions do); conversion to float is exact; NaN remains NaN.
/// Kernels are templates over the stored type, float or Bf16, and compute in float.
struct Bf16 {
  std::uint16_t bits = 0;

  Bf16() = default;
  [[gnu::always_inline]] Bf16(float value) {  // NOLINT: `y[i] = a * b` is the point
    const auto u = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (u + 0x7FFF + (u >> 16 & 1)) >> 16;
    bits = static_cast<std::uint16_t>((u & 0x7FFFFFFF) > 0x7F800000 ? (u >> 16 | 0x40) : rounded);
  }
  [[gnu::always_inline]] operator float() const {  // NOLINT
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};
static_assert(sizeof(Bf16) == 2);

// Pieces of 16, 8 and 1, because compilers do not vectorize the conversions above.
using Halves16 [[gnu::vector_size(32)]] = std::uint16_t;
using Words16 [[gnu::vector_size(64)]] = std::uint32_t;
using Halves8 [[gnu::vector_size(16)]] = std::uint16_t;
using Words8 [[gnu::vector_size(32)]] = std::uint32_t;

/// True if the processor has an instruction that rounds floats to Bf16 (AVX512_BF16, which x86-64-v4 lacks).
extern const bool kRoundsToBf16;

template <class Halves, class Words>
[[gnu::always_inline]] inline void widen_piece(const Bf16* from, float* values) {
  Halves halves;
  std::memcpy(&halves, from, sizeof halves);
#ifdef __AVX512F__  // GCC 12 widens in halves, with five instructions
  Words words;
  asm("vpmovzxwd %1, %0" : "=v"(words) : "v"(halves));
  words <<= 16;
#else
  const Words words = __builtin_convertvector(halves, Words) << 16;
#endif
  std::memcpy(values, &words, sizeof words);
}
template <class Halves, class Words>
[[gnu::always_inline]] inline void narrow_piece(const float* values, Bf16* to) {
  Words u;
  std::memcpy(&u, values, sizeof u);
  Halves halves;
#ifdef __AVX512F__
  if (kRoundsToBf16) {
    asm("vcvtneps2bf16 %1, %0" : "=v"(halves) : "v"(u));
    std::memcpy(static_cast<void*>(to), &halves, sizeof halves);
    return;
  }
#endif
  const Words rounded = (u + 0x7FFF + (u >> 16 & 1)) >> 16;
  const Words chosen = (u & 0x7FFFFFFF) > 0x7F800000 ? (u >> 16 | 0x40) : rounded;
  halves = __builtin_convertvector(chosen, Halves);
  std::memcpy(static_cast<void*>(to), &halves, sizeof halves);
}

/// N neighboring values in memory, as floats. For float this is the memory itself.
template <class T, int N>
struct In;
template <int N>
struct In<float, N> {
  const float* at;
  [[gnu::always_inline]] explicit In(const float* from) : at(from) {}
  [[gnu::always_inline]] float operator[](int c) const { return at[c]; }
};
template <int N>
struct In<Bf16, N> {
  float values[N];
  [[gnu::always_inline]] explicit In(const Bf16* from) {
    if constexpr (N == 16) {
      widen_piece<Halves16, Words16>(from, values);
    } else if constexpr (N == 8) {
      widen_piece<Halves8, Words8>(from, values);
    } else {
      for (int c = 0; c < N; ++c) values[c] = from[c];
    }
  }
  [[gnu::always_inline]] float operator[](int c) const { return values[c]; }
};

/// N values to be written: after put(), the values assigned by operator[] are in memory.
template <class T, int N>
struct Out;
template <int N>
struct Out<float, N> {
  float* at;
  [[gnu::always_inline]] explicit Out(float* to) : at(to) {}
  [[gnu::always_inline]] float& operator[](int c) { return at[c]; }
  [[gnu::always_inline]] void put() {}
};
template <int N>
struct Out<Bf16, N> {
  Bf16* at;
  float values[N];
  [[gnu::always_inline]] explicit Out(Bf16* to) : at(to) {}
  [[gnu::always_inline]] float& operator[](int c) { return values[c]; }
  [[gnu::always_inline]] void put() {
    if constexpr (N == 16) {
      narrow_piece<Halves16, Words16>(values, at);
    } else if constexpr (N == 8) {
      narrow_piece<Halves8, Words8>(values, at);
    } else {
      for (int c = 0; c < N; ++c) at[c] = values[c];
    }
  }
};

/// Calls f(width, first), where width is a std::integral_constant of 16 or 1, until n elements are covered.
template <class F>
[[gnu::always_inline]] inline void for_each_sixteen(std::size_t n, const F& f) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) f(std::integral_constant<int, 16>{}, i);
  for (; i < n; ++i) f(std::integral_constant<int, 1>{}, i);
}

}  // namespace convoke::nn
