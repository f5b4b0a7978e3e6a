#pragma once
#include <cstdint>
#include <span>

namespace convoke {

/// Fixed point for `reduction = "exact"`: a value g is llrint(g * 2^40) in 64 bits. Integer addition is
/// associative, so a sum does not depend on its order or on who adds. Resolution 9.1e-13.
inline constexpr int kFixedPointBits = 40;
inline constexpr float kFixedPointTermLimit = 4194304.0F;  // 2^22

/// The magnitude below which each of `terms` terms must stay, so that their sum cannot wrap unseen:
/// min(2^22, 2^23 / terms), terms > 0. To be the same on all ranks it must count the terms of the whole sum
/// (the lanes of a step), not those of one rank.
constexpr float fixed_point_limit(std::int64_t terms) {
  const auto limit = static_cast<float>(8388608.0 / static_cast<double>(terms));
  return limit < kFixedPointTermLimit ? limit : kFixedPointTermLimit;
}

/// sum[i] = llrint(values[i] * 2^40). Returns false if a term is not finite or reaches the limit (at most
/// kFixedPointTermLimit); such terms count as 0. Sizes must be equal.
bool fixed_point_assign(std::span<const float> values, std::span<std::int64_t> sum,
                        float limit = kFixedPointTermLimit);

/// sum[i] += llrint(values[i] * 2^40), else as fixed_point_assign.
bool fixed_point_add(std::span<const float> values, std::span<std::int64_t> sum,
                     float limit = kFixedPointTermLimit);

/// values[i] = sum[i] / 2^40, rounded to double, then to float.
void fixed_point_to_float(std::span<const std::int64_t> sum, std::span<float> values);

}  // namespace convoke
