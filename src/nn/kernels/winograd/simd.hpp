#pragma once
// One vector of the instruction set for which the including file is compiled. Everything is local to that
// file, because the same names have another meaning in the next one.
#include <immintrin.h>

#include <cstdint>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {
namespace {

#ifdef __AVX512F__
using Vec = __m512;
inline Vec zero() { return _mm512_setzero_ps(); }
inline Vec all(float value) { return _mm512_set1_ps(value); }
inline Vec load(const float* at) { return _mm512_loadu_ps(at); }
inline void store(float* at, Vec value) { _mm512_storeu_ps(at, value); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec fnma(Vec a, Vec b, Vec c) { return _mm512_fnmadd_ps(a, b, c); }
/// max(value, 0); NaN remains NaN. (Without a mask, GCC 12 warns of an uninitialized value.)
inline Vec relu(Vec value) { return _mm512_maskz_max_ps(0xFFFF, zero(), value); }
/// Returns `value` where `gate` > 0, else 0.
inline Vec where_positive(Vec gate, Vec value) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(gate, zero(), _CMP_GT_OQ), value);
}
// These four combine the first, second, ... four values of a with those of b. They return a0 b0 a1 b1,
// a2 b2 a3 b3, a0 a1 b0 b1 and a2 a3 b2 b3. (The masks avoid the warning of GCC 12.)
inline Vec interleave_low(Vec a, Vec b) { return _mm512_maskz_unpacklo_ps(0xFFFF, a, b); }
inline Vec interleave_high(Vec a, Vec b) { return _mm512_maskz_unpackhi_ps(0xFFFF, a, b); }
inline Vec low_halves(Vec a, Vec b) { return _mm512_shuffle_ps(a, b, 0x44); }
inline Vec high_halves(Vec a, Vec b) { return _mm512_shuffle_ps(a, b, 0xEE); }
/// Loads 4 values of every fourth row of 16.
inline Vec load_quarters(const float* rows) {
  Vec value = _mm512_zextps128_ps512(_mm_loadu_ps(rows));
  value = _mm512_insertf32x4(value, _mm_loadu_ps(rows + 4 * 16), 1);
  value = _mm512_insertf32x4(value, _mm_loadu_ps(rows + 8 * 16), 2);
  return _mm512_insertf32x4(value, _mm_loadu_ps(rows + 12 * 16), 3);
}
#else
using Vec = __m256;
inline Vec zero() { return _mm256_setzero_ps(); }
inline Vec all(float value) { return _mm256_set1_ps(value); }
inline Vec load(const float* at) { return _mm256_loadu_ps(at); }
inline void store(float* at, Vec value) { _mm256_storeu_ps(at, value); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec fnma(Vec a, Vec b, Vec c) { return _mm256_fnmadd_ps(a, b, c); }
inline Vec relu(Vec value) { return _mm256_max_ps(zero(), value); }
inline Vec where_positive(Vec gate, Vec value) {
  return _mm256_and_ps(_mm256_cmp_ps(gate, zero(), _CMP_GT_OQ), value);
}
inline Vec interleave_low(Vec a, Vec b) { return _mm256_unpacklo_ps(a, b); }
inline Vec interleave_high(Vec a, Vec b) { return _mm256_unpackhi_ps(a, b); }
inline Vec low_halves(Vec a, Vec b) { return _mm256_shuffle_ps(a, b, 0x44); }
inline Vec high_halves(Vec a, Vec b) { return _mm256_shuffle_ps(a, b, 0xEE); }
inline Vec load_quarters(const float* rows) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows)), _mm_loadu_ps(rows + 4 * 8), 1);
}
#endif

constexpr int kLanes = sizeof(Vec) / sizeof(float);

// Bf16 is converted as in bfloat16.hpp.
using Halves [[gnu::vector_size(2 * kLanes)]] = std::uint16_t;
using Words [[gnu::vector_size(4 * kLanes)]] = std::uint32_t;
inline Vec load(const Bf16* at) {
  Vec value;
  widen_piece<Halves, Words>(at, reinterpret_cast<float*>(&value));
  return value;
}
inline void store(Bf16* at, Vec value) {
  narrow_piece<Halves, Words>(reinterpret_cast<const float*>(&value), at);
}

constexpr int kColumns = 4;  // of load_columns
/// Loads the first 4 values of each of kLanes rows of kLanes values. columns[i] gets value i of all rows.
inline void load_columns(const float* rows, Vec* columns) {
  const Vec a = load_quarters(rows), b = load_quarters(rows + kLanes);
  const Vec c = load_quarters(rows + 2 * kLanes), d = load_quarters(rows + 3 * kLanes);
  const Vec ab01 = interleave_low(a, b), ab23 = interleave_high(a, b);
  const Vec cd01 = interleave_low(c, d), cd23 = interleave_high(c, d);
  columns[0] = low_halves(ab01, cd01);
  columns[1] = high_halves(ab01, cd01);
  columns[2] = low_halves(ab23, cd23);
  columns[3] = high_halves(ab23, cd23);
}

// How vectors of channels are grouped for the products.

// Vectors whose sums stay in registers together: AVX-512 has 32 registers, AVX2 16.
constexpr int kPanel = kLanes == 16 ? 4 : 2;

/// The panel of vector `channel` of `blocks`; the last panel may have fewer vectors.
struct Panel {
  Panel(std::int64_t blocks, std::int64_t channel)
      : first(channel / kPanel * kPanel), vectors(blocks - first < kPanel ? blocks - first : kPanel) {}
  std::int64_t first, vectors;
};

}  // namespace
}  // namespace convoke::nn
