#include "convoke/optim/rmsprop.hpp"

#include <cmath>

#include "convoke/core/keys.hpp"
#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
namespace {

//   s <- rho s + (1 - rho) g^2
//   w <- w - lr g / sqrt(s + eps)               every array has shape (n)
CONVOKE_MULTIVERSION
void rmsprop_plain(float* weight, const float* gradient, float* mean_square, std::size_t n, float rate,
                   float rho, float one_minus_rho, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    mean_square[i] = rho * mean_square[i] + one_minus_rho * (g * g);
    weight[i] -= rate * g / std::sqrt(mean_square[i] + epsilon);
  }
}

//   s <- rho s + (1 - rho) g^2
//   v <- mu v + lr g / sqrt(s + eps)
//   w <- w - v
CONVOKE_MULTIVERSION
void rmsprop_with_momentum(float* weight, const float* gradient, float* mean_square, float* velocity,
                           std::size_t n, float rate, float rho, float one_minus_rho, float momentum,
                           float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    mean_square[i] = rho * mean_square[i] + one_minus_rho * (g * g);
    velocity[i] = momentum * velocity[i] + rate * g / std::sqrt(mean_square[i] + epsilon);
    weight[i] -= velocity[i];
  }
}

constexpr std::array kRmsPropKeys{
    key<&RmsPropOptions::rho>({.name = "rho",
                               .range = {.least = 0, .below = 1},
                               .help = "decay of the running mean of squared gradients"}),
    key<&RmsPropOptions::momentum>(
        {.name = "momentum", .range = {.least = 0, .below = 1}, .help = "decay of the velocity"}),
    key<&RmsPropOptions::epsilon>(
        {.name = "epsilon", .range = {.above = 0}, .help = "added inside the root"}),
};

}  // namespace

RmsProp::Keys RmsProp::keys() { return kRmsPropKeys; }

void RmsProp::step(const Slice& slice, double learning_rate) const {
  const auto rate = static_cast<float>(learning_rate);
  const auto rho = static_cast<float>(options_.rho);
  const auto one_minus_rho = static_cast<float>(1 - options_.rho);
  const auto epsilon = static_cast<float>(options_.epsilon);
  if (options_.momentum == 0) {
    rmsprop_plain(slice.parameters(), slice.gradients(), slice.state(0), slice.size(), rate, rho,
                  one_minus_rho, epsilon);
  } else {
    rmsprop_with_momentum(slice.parameters(), slice.gradients(), slice.state(0), slice.state(1), slice.size(),
                          rate, rho, one_minus_rho, static_cast<float>(options_.momentum), epsilon);
  }
}

namespace {

//   s <- s + g^2
//   w <- w - lr g / sqrt(s + s_0 + eps)         every array has shape (n)
CONVOKE_MULTIVERSION
void adagrad(float* weight, const float* gradient, float* sum_of_squares, std::size_t n, float rate,
             float start) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    sum_of_squares[i] += g * g;
    weight[i] -= rate * g / std::sqrt(sum_of_squares[i] + start);
  }
}

constexpr std::array kAdagradKeys{
    key<&AdagradOptions::initial_accumulator_value>({.name = "initial_accumulator_value",
                                                     .range = {.least = 0},
                                                     .help = "start value of the sum of squared gradients"}),
    key<&AdagradOptions::epsilon>(
        {.name = "epsilon", .range = {.above = 0}, .help = "added inside the root"}),
};

}  // namespace

Adagrad::Keys Adagrad::keys() { return kAdagradKeys; }

void Adagrad::step(const Slice& slice, double learning_rate) const {
  adagrad(slice.parameters(), slice.gradients(), slice.state(0), slice.size(),
          static_cast<float>(learning_rate),
          static_cast<float>(options_.initial_accumulator_value + options_.epsilon));
}

}  // namespace convoke::optim
