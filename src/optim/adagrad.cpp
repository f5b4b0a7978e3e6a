#include "convoke/optim/adagrad.hpp"

#include <cmath>

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

}  // namespace

AdagradOptions Adagrad::read(SettingsReader& settings) {
  AdagradOptions options;
  options.initial_accumulator_value =
      settings.get("initial_accumulator_value", options.initial_accumulator_value);
  settings.check("initial_accumulator_value",
                 options.initial_accumulator_value >= 0 && std::isfinite(options.initial_accumulator_value),
                 "at least 0");
  options.epsilon = settings.get("epsilon", options.epsilon);
  settings.check("epsilon", options.epsilon > 0 && std::isfinite(options.epsilon), "above 0");
  return options;
}

void Adagrad::step(const Slice& slice, double learning_rate) const {
  adagrad(slice.parameters(), slice.gradients(), slice.state(0), slice.size(),
          static_cast<float>(learning_rate),
          static_cast<float>(options_.initial_accumulator_value + options_.epsilon));
}

Settings Adagrad::settings() const {
  return {{"name", name()},
          {"initial_accumulator_value", options_.initial_accumulator_value},
          {"epsilon", options_.epsilon}};
}

}  // namespace convoke::optim
