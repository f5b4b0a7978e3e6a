#pragma once
#include <cstdint>
#include <span>

namespace convoke {

/// Fixed point for `reduction = "exact"`: a value g is llrint(g * 2^40) in 64 bits. Integer addition is
/// associative, so a sum does not depend on its order or on the ranks and threads that add. Resolution
/// 9.1e-13.
inline constexpr int kFixedPointBits = 40;
inline constexpr float kFixedPointTermLimit = 4194304.0F;  // 2^22

/// Returns the limit for the magnitude of each of `terms` terms, so that overflow of the sum is always
/// detected: min(2^22, 2^23 / terms), terms > 0. It is the same on all ranks only if `terms` counts the terms
/// of the whole sum (the lanes (micro-batches) of a step), not those of one rank.
constexpr float fixed_point_limit(std::int64_t terms) {
  const auto limit = static_cast<float>(8388608.0 / static_cast<double>(terms));
  return limit < kFixedPointTermLimit ? limit : kFixedPointTermLimit;
}

/// Sets sum[i] = llrint(values[i] * 2^40). Returns false if a term is not finite or reaches the limit (at
/// most kFixedPointTermLimit); such terms count as 0. Sizes must be equal.
bool fixed_point_assign(std::span<const float> values, std::span<std::int64_t> sum,
                        float limit = kFixedPointTermLimit);

/// Adds sum[i] += llrint(values[i] * 2^40); otherwise as fixed_point_assign.
bool fixed_point_add(std::span<const float> values, std::span<std::int64_t> sum,
                     float limit = kFixedPointTermLimit);

/// Sets values[i] = sum[i] / 2^40, rounded to double, then to float.
void fixed_point_to_float(std::span<const std::int64_t> sum, std::span<float> values);

}  // namespace convoke
