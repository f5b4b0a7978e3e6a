#include "convoke/optim/passes.hpp"

#include <cmath>
#include <cstddef>

#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
namespace {

// Element i goes to partial sum i mod 16, so that the loop can use vectors.
constexpr std::size_t kPartial = 16;

template <class Term>
[[gnu::always_inline]] inline double sum_of(const float* values, std::size_t n, Term term) {
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
  return sum_of(values, n, [](double x) { return x * x; });
}
CONVOKE_MULTIVERSION
double magnitudes(const float* values, std::size_t n) {
  return sum_of(values, n, [](double x) { return std::abs(x); });
}

//   g <- g + l1 sign(w) + 2 l2 w                every array has shape (n)
CONVOKE_MULTIVERSION
void add_gradient_of_penalty(const float* weight, float* gradient, std::size_t n, float l1, float twice_l2) {
  for (std::size_t i = 0; i < n; ++i) {
    const float w = weight[i];
    const float sign = w > 0 ? 1.0F : (w < 0 ? -1.0F : 0.0F);
    gradient[i] += l1 * sign + twice_l2 * w;
  }
}

//   g <- max(-limit, min(limit, g))             gradient: (n)
CONVOKE_MULTIVERSION
void clip(float* gradient, std::size_t n, float limit) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    gradient[i] = g > limit ? limit : (g < -limit ? -limit : g);
  }
}

CONVOKE_MULTIVERSION
void multiply(float* gradient, std::size_t n, float factor) {
  for (std::size_t i = 0; i < n; ++i) gradient[i] *= factor;
}

//   a <- d a + (1 - d) w                        every array has shape (n)
CONVOKE_MULTIVERSION
void average_in(const float* weight, float* average, std::size_t n, float decay, float one_minus_decay) {
  for (std::size_t i = 0; i < n; ++i) average[i] = decay * average[i] + one_minus_decay * weight[i];
}

}  // namespace

double sum_of_squares(std::span<const float> values) { return squares(values.data(), values.size()); }
double sum_of_magnitudes(std::span<const float> values) { return magnitudes(values.data(), values.size()); }

double add_penalty(std::span<const float> weights, double l1, double l2, std::span<float> gradients) {
  add_gradient_of_penalty(weights.data(), gradients.data(), weights.size(), static_cast<float>(l1),
                          static_cast<float>(2 * l2));
  double penalty = 0;
  if (l1 != 0) penalty += l1 * sum_of_magnitudes(weights);
  if (l2 != 0) penalty += l2 * sum_of_squares(weights);
  return penalty;
}

void clip_by_value(std::span<float> gradients, float limit) {
  clip(gradients.data(), gradients.size(), limit);
}

double clip_factor(double norm, double limit) { return norm > limit ? limit / norm : 1; }

void scale(std::span<float> gradients, float factor) { multiply(gradients.data(), gradients.size(), factor); }

void update_average(std::span<const float> weights, double decay, std::span<float> average) {
  average_in(weights.data(), average.data(), weights.size(), static_cast<float>(decay),
             static_cast<float>(1 - decay));
}

}  // namespace convoke::optim
