#pragma once
#include <cstdint>
#include <span>

namespace convoke {

/// Fixed point for `reduction = "exact"`: a value g is llrint(g * 2^40) in 64 bits. Integer addition is associative,
/// so a sum does not depend on its order or on who adds. Resolution 9.1e-13; one term must stay below 2^22 in
/// magnitude, so that the sum of many cannot wrap before it is found too large.
inline constexpr int kFixedPointBits = 40;
inline constexpr float kFixedPointTermLimit = 4194304.0F;  // 2^22

/// sum[i] = llrint(values[i] * 2^40). Returns false if a term is not finite or reaches the limit; such terms count
/// as 0. Sizes must be equal.
bool fixed_point_assign(std::span<const float> values, std::span<std::int64_t> sum);

/// sum[i] += llrint(values[i] * 2^40), else as fixed_point_assign.
bool fixed_point_add(std::span<const float> values, std::span<std::int64_t> sum);

/// values[i] = sum[i] / 2^40, rounded once to float.
void fixed_point_to_float(std::span<const std::int64_t> sum, std::span<float> values);

}  // namespace convoke
