#pragma once
#include <bit>
#include <cstdint>

namespace convoke::sync {

/// A number in bfloat16: the upper half of an fp32.
struct Bfloat16 {
  std::uint16_t bits = 0;

  Bfloat16() = default;
  /// Rounds to the nearest number, in a tie to the even one. NaN stays NaN.
  explicit Bfloat16(float value) {
    const auto whole = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (whole + 0x7FFFU + ((whole >> 16) & 1U)) >> 16;
    const std::uint32_t quiet_nan = (whole >> 16) | 0x40U;
    bits = static_cast<std::uint16_t>((whole & 0x7FFFFFFFU) > 0x7F800000U ? quiet_nan : rounded);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

}  // namespace convoke::sync
