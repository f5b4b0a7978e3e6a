#include "convoke/optim/adagrad.hpp"

#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("adagrad: three steps computed by hand") {
  // s = 1 + 3, 4 + 5, 9 + 16; g / sqrt(s) = sqrt(3) / 2, sqrt(5) / 3, -4 / 5
  const Adagrad adagrad({.initial_accumulator_value = 1.0});
  Training training(adagrad, {1.0F});
  training.step({1.7320508F}, 1.0);
  CHECK(training.weights()[0] == Approx(1 - 0.8660254).margin(1e-6));
  training.step({2.2360680F}, 1.0);
  CHECK(training.weights()[0] == Approx(1 - 0.8660254 - 0.7453560).margin(1e-6));
  training.step({-4.0F}, 1.0);
  CHECK(training.weights()[0] == Approx(1 - 0.8660254 - 0.7453560 + 0.8).margin(1e-6));
}

TEST_CASE("adagrad: fifty steps equal Keras'") {
  // keras.optimizers.Adagrad(0.01), Adagrad(0.01, initial_accumulator_value=0.5, epsilon=1e-3)
  check_near(fifty_steps(Adagrad()), {0.500048518F, 0.300854474F, 0.100358181F, -0.116842099F, -0.31269291F},
             2e-6);
  check_near(fifty_steps(Adagrad({.initial_accumulator_value = 0.5, .epsilon = 1e-3})),
             {0.500021815F, 0.300383419F, 0.0999886915F, -0.114965178F, -0.312664717F}, 2e-6);
}
