#include "convoke/optim/adagrad.hpp"

#include <cmath>

#include "convoke/core/keys.hpp"
#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
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
