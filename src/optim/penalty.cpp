#include "convoke/optim/penalty.hpp"

#include <cstddef>

#include "convoke/core/multiversion.hpp"
#include "convoke/optim/norm.hpp"

namespace convoke::optim {
namespace {

//   g <- g + l1 sign(w) + 2 l2 w                every array has shape (n)
CONVOKE_MULTIVERSION
void add(const float* weight, float* gradient, std::size_t n, float l1, float twice_l2) {
  for (std::size_t i = 0; i < n; ++i) {
    const float w = weight[i];
    const float sign = w > 0 ? 1.0F : (w < 0 ? -1.0F : 0.0F);
    gradient[i] += l1 * sign + twice_l2 * w;
  }
}

}  // namespace

double add_penalty(std::span<const float> weights, double l1, double l2, std::span<float> gradients) {
  add(weights.data(), gradients.data(), weights.size(), static_cast<float>(l1), static_cast<float>(2 * l2));
  double penalty = 0;
  if (l1 != 0) penalty += l1 * sum_of_magnitudes(weights);
  if (l2 != 0) penalty += l2 * sum_of_squares(weights);
  return penalty;
}

}  // namespace convoke::optim
