#pragma once
#include <bit>
#include <cstdint>

namespace convoke::nn {

/// A float's upper half: 8 bits of exponent, 8 of precision. Converts from float by rounding to nearest, ties
/// to even (as the processors' own instructions do), and to float exactly; a NaN stays one. Kernels are
/// templates over the stored type, float or this, and compute in float.
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

}  // namespace convoke::nn
