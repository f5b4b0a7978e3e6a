#include "convoke/core/fixed_point.hpp"

#include <cassert>
#include <cmath>

#include "convoke/core/multiversion.hpp"

namespace convoke {
namespace {

constexpr double kScale = static_cast<double>(std::int64_t{1} << kFixedPointBits);

// The comparison is false for NaN, so one test finds both NaN and overflow.
inline bool in_range(float value) { return std::fabs(value) < kFixedPointTermLimit; }

inline std::int64_t to_fixed(float value) {
  return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(value) * kScale));
}

CONVOKE_MULTIVERSION
bool assign(const float* values, std::int64_t* sum, std::size_t n) {
  int bad = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float value = in_range(values[i]) ? values[i] : 0.0F;
    bad |= in_range(values[i]) ? 0 : 1;
    sum[i] = to_fixed(value);
  }
  return bad == 0;
}

CONVOKE_MULTIVERSION
bool add(const float* values, std::int64_t* sum, std::size_t n) {
  int bad = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float value = in_range(values[i]) ? values[i] : 0.0F;
    bad |= in_range(values[i]) ? 0 : 1;
    sum[i] += to_fixed(value);
  }
  return bad == 0;
}

CONVOKE_MULTIVERSION
void to_float(const std::int64_t* sum, float* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(static_cast<double>(sum[i]) * (1.0 / kScale));
}

}  // namespace

bool fixed_point_assign(std::span<const float> values, std::span<std::int64_t> sum) {
  assert(values.size() == sum.size());
  return assign(values.data(), sum.data(), values.size());
}

bool fixed_point_add(std::span<const float> values, std::span<std::int64_t> sum) {
  assert(values.size() == sum.size());
  return add(values.data(), sum.data(), values.size());
}

void fixed_point_to_float(std::span<const std::int64_t> sum, std::span<float> values) {
  assert(values.size() == sum.size());
  to_float(sum.data(), values.data(), values.size());
}

}  // namespace convoke
