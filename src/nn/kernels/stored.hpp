#pragma once
#include <bit>
#include <cstdint>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// Load *p as a float, and store a float to *p. For loops marked `omp simd`: there GCC treats Bf16 as an
/// array of structs, which it cannot vectorize, but it can vectorize plain integers.
[[gnu::always_inline]] inline float load(const float* p) { return *p; }
[[gnu::always_inline]] inline float load(const Bf16* p) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(p->bits) << 16);
}
[[gnu::always_inline]] inline void store(float* p, float value) { *p = value; }
[[gnu::always_inline]] inline void store(Bf16* p, float value) {  // as Bf16(value)
  const auto u = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (u + 0x7FFF + (u >> 16 & 1)) >> 16;
  const std::uint32_t cut = u >> 16 | 0x40;
  p->bits = static_cast<std::uint16_t>((u & 0x7FFFFFFF) > 0x7F800000 ? cut : rounded);
}

}  // namespace convoke::nn
