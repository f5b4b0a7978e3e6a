#include "convoke/optim/adam.hpp"

#include <cmath>

#include "convoke/core/keys.hpp"
#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
namespace {

//   m <- m + (1 - b1) (g - m)
//   v <- v + (1 - b2) (g^2 - v)
//   w <- w - alpha m / (sqrt(v) + eps)          every array has shape (n)
CONVOKE_MULTIVERSION
void adam(float* weight, const float* gradient, float* mean, float* mean_square, std::size_t n, float alpha,
          float one_minus_beta_1, float one_minus_beta_2, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    mean[i] += one_minus_beta_1 * (g - mean[i]);
    mean_square[i] += one_minus_beta_2 * (g * g - mean_square[i]);
    weight[i] -= alpha * mean[i] / (std::sqrt(mean_square[i]) + epsilon);
  }
}

constexpr std::array kAdamKeys = with_adam_keys();

}  // namespace

Adam::Keys Adam::keys() { return kAdamKeys; }

void Adam::step(const Slice& slice, double learning_rate) const {
  // alpha = lr sqrt(1 - b2^t) / (1 - b1^t) corrects the bias of both means, which start at 0.
  const auto t = static_cast<double>(slice.step());
  const double alpha =
      learning_rate * std::sqrt(1 - std::pow(options_.beta_2, t)) / (1 - std::pow(options_.beta_1, t));
  adam(slice.parameters(), slice.gradients(), slice.state(0), slice.state(1), slice.size(),
       static_cast<float>(alpha), static_cast<float>(1 - options_.beta_1),
       static_cast<float>(1 - options_.beta_2), static_cast<float>(options_.epsilon));
}

}  // namespace convoke::optim
