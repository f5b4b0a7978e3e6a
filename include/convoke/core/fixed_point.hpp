#pragma once
#include <array>
#include <cstddef>
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
/// of the whole sum (the micro-batches of a step), not those of one rank.
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

/// Fixed point for exact sums of values of unknown size: a double is high * 2^-6 + low * 2^-52, two 64-bit
/// integers that are added separately. Resolution 2.2e-16. Terms must be below 2^40 in magnitude, and there
/// may be at most 2^16 of them.
inline constexpr double kWideFixedPointTermLimit = 1099511627776.0;  // 2^40
inline constexpr std::int64_t kWideFixedPointTerms = 65536;

/// Adds values (n) to sum (2 n: all high parts, then all low parts). Returns false if a term is not finite or
/// reaches the limit; such terms count as 0.
bool wide_fixed_point_add(std::span<const double> values, std::span<std::int64_t> sum);

/// Sets values[i] to the i-th value of the sum, rounded to double.
void wide_fixed_point_to_double(std::span<const std::int64_t> sum, std::span<double> values);

/// An exact sum of any number of doubles, over threads and ranks in any order: three integers with carries,
/// so that it cannot wrap. A term that is not finite, or reaches kWideFixedPointTermLimit, makes the sum
/// infinite.
class ExactSum {
 public:
  static constexpr std::size_t kParts = 4;

  void add(double value);
  /// Returns the sum as a double, the same for any order of its terms; infinite if a term was invalid.
  double value() const;

  /// The parts of the sum; ranks may add them up in place, at most 2^16 of them.
  std::span<std::int64_t, kParts> parts() { return parts_; }

 private:
  void carry();

  std::array<std::int64_t, kParts> parts_{};  // units 2^36, 2^-6 and 2^-52, and the number of invalid terms
};

}  // namespace convoke
