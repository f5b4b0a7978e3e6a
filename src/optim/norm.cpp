#include "convoke/optim/norm.hpp"

#include <cmath>
#include <cstddef>

#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
namespace {

// Element i goes to partial sum i mod 16, so that a loop over them is a loop over vectors.
constexpr std::size_t kPartial = 16;

template <class Term>
[[gnu::always_inline]] inline double sum(const float* values, std::size_t n, Term term) {
  double partial[kPartial] = {};
  const std::size_t whole = n / kPartial * kPartial;
  for (std::size_t i = 0; i < whole; i += kPartial) {
    for (std::size_t k = 0; k < kPartial; ++k) partial[k] += term(static_cast<double>(values[i + k]));
  }
  for (std::size_t i = whole; i < n; ++i) partial[i - whole] += term(static_cast<double>(values[i]));
  double total = 0;
  for (const double part : partial) total += part;
  return total;
}

// The square of a float is exact in double.
CONVOKE_MULTIVERSION
double squares(const float* values, std::size_t n) {
  return sum(values, n, [](double x) { return x * x; });
}
CONVOKE_MULTIVERSION
double magnitudes(const float* values, std::size_t n) {
  return sum(values, n, [](double x) { return std::abs(x); });
}

}  // namespace

double sum_of_squares(std::span<const float> values) { return squares(values.data(), values.size()); }
double sum_of_magnitudes(std::span<const float> values) { return magnitudes(values.data(), values.size()); }

}  // namespace convoke::optim
