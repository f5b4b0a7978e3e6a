#include "convoke/optim/clipping.hpp"

#include <cstddef>

#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
namespace {

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

}  // namespace

void clip_by_value(std::span<float> gradients, float limit) {
  clip(gradients.data(), gradients.size(), limit);
}

double clip_factor(double norm, double limit) { return norm > limit ? limit / norm : 1; }

void scale(std::span<float> gradients, float factor) { multiply(gradients.data(), gradients.size(), factor); }

}  // namespace convoke::optim
