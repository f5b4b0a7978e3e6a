#pragma once
#include <algorithm>
#include <cmath>
#include <ranges>
#include <type_traits>

namespace convoke {

/// True if no value of a range is infinite or NaN.
template <std::ranges::input_range Numbers>
bool all_finite(const Numbers& values) {
  using Stored = std::ranges::range_value_t<Numbers>;
  using Number = std::conditional_t<std::is_same_v<Stored, double>, double, float>;  // bf16 becomes a float
  return std::ranges::all_of(values, [](Number value) { return std::isfinite(value); });
}

}  // namespace convoke
