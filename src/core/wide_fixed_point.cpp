#include "convoke/core/wide_fixed_point.hpp"

#include <cassert>
#include <cmath>
#include <limits>

namespace convoke {
namespace {

constexpr double kHigh = 64;                 // 2^6: |high| <= 2^46, so 2^16 terms stay below 2^63
constexpr double kLow = 4503599627370496.0;  // 2^52: |low| <= 2^45, for the rest after rounding to 2^-6

}  // namespace

bool wide_fixed_point_add(std::span<const double> values, std::span<std::int64_t> sum) {
  const std::size_t n = values.size();
  assert(sum.size() == 2 * n);
  bool good = true;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(std::fabs(values[i]) < kWideFixedPointTermLimit)) {  // also true for NaN
      good = false;
      continue;
    }
    const double high = std::nearbyint(values[i] * kHigh);  // exact except for this rounding
    sum[i] += static_cast<std::int64_t>(high);
    sum[n + i] += std::llrint((values[i] - high / kHigh) * kLow);
  }
  return good;
}

void wide_fixed_point_to_double(std::span<const std::int64_t> sum, std::span<double> values) {
  const std::size_t n = values.size();
  assert(sum.size() == 2 * n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<double>(sum[i]) / kHigh + static_cast<double>(sum[n + i]) / kLow;
}

// Carries whole units to the next higher part, so that 0 <= part < 2^bits for all parts but the first: this
// form is unique for each sum.
void ExactSum::carry() {
  const auto move = [](std::int64_t& part, std::int64_t& next, int bits) {
    const std::int64_t whole = part >> bits;
    part -= whole << bits;
    next += whole;
  };
  move(parts_[2], parts_[1], 46);
  move(parts_[1], parts_[0], 42);
}

void ExactSum::add(double value) {
  if (!wide_fixed_point_add({&value, 1}, std::span(parts_).subspan(1, 2))) ++parts_[3];
  carry();
}

double ExactSum::value() const {
  if (parts_[3] != 0) return std::numeric_limits<double>::infinity();
  ExactSum sum = *this;
  sum.carry();
  return std::ldexp(static_cast<double>(sum.parts_[0]), 36) + static_cast<double>(sum.parts_[1]) / kHigh +
         static_cast<double>(sum.parts_[2]) / kLow;
}

}  // namespace convoke
