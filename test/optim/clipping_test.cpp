#include "convoke/optim/clipping.hpp"

#include <cmath>
#include <limits>

#include "convoke/optim/norm.hpp"
#include "convoke/optim/sgd.hpp"
#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

namespace {

// fifty_steps of SGD with momentum 0.9, with something done to the gradients.
template <class Clip>
std::vector<float> clipped_steps(Clip clip) {
  const Sgd sgd({.momentum = 0.9});
  Training training(sgd, {0.5F, 0.3F, 0.1F, -0.1F, -0.3F});
  for (int t = 1; t <= 50; ++t) {
    std::vector<float> gradients = gradients_of_step(t);
    clip(gradients);
    training.step(gradients, 0.01);
  }
  return training.weights();
}

void check_near(const std::vector<float>& weights, const std::vector<float>& expected) {
  REQUIRE(weights.size() == expected.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    CHECK(weights[i] == Catch::Approx(expected[i]).epsilon(0).margin(2e-6));
}

}  // namespace

TEST_CASE("clipping by value is Keras'") {
  // keras.optimizers.SGD(0.01, momentum=0.9, clipvalue=0.05)
  check_near(clipped_steps([](auto& gradients) { clip_by_value(gradients, 0.05F); }),
             {0.500043273F, 0.301634908F, 0.103335969F, -0.0856781527F, -0.284026951F});
}

TEST_CASE("clipping by the global norm is Keras'") {
  // keras.optimizers.SGD(0.01, momentum=0.9, global_clipnorm=0.5)
  check_near(clipped_steps([](auto& gradients) {
               const double norm = std::sqrt(sum_of_squares(gradients));
               scale(gradients, static_cast<float>(clip_factor(norm, 0.5)));
             }),
             {0.500017822F, 0.300022662F, 0.0983241424F, -0.111243501F, -0.19256492F});
}

TEST_CASE("what is within bounds is not touched") {
  CHECK(clip_factor(0, 1) == 1);
  CHECK(clip_factor(1, 1) == 1);
  CHECK(clip_factor(4, 1) == 0.25);
  std::vector<float> values{-3, -1, -0.5F, 0, 1, 2, std::nanf(""), HUGE_VALF};
  clip_by_value(values, 1);
  CHECK(std::isnan(values[6]));
  values.erase(values.begin() + 6);
  CHECK(values == std::vector<float>{-1, -1, -0.5F, 0, 1, 1, 1});
}
