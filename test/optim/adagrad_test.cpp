#include "convoke/optim/adagrad.hpp"

#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("adagrad: three steps computed by hand") {
  // s = 1 + 3, 4 + 5, 9 + 16; g / sqrt(s) = sqrt(3) / 2, sqrt(5) / 3, -4 / 5
  const Adagrad adagrad({.initial_accumulator_value = 1.0});
  check_near(weight_after_each(adagrad, 1, {1.7320508F, 2.2360680F, -4.0F}),
             {1 - 0.8660254F, 1 - 0.8660254F - 0.7453560F, 1 - 0.8660254F - 0.7453560F + 0.8F});
}

TEST_CASE("adagrad: fifty steps equal Keras'") {
  // keras.optimizers.Adagrad(0.01), Adagrad(0.01, initial_accumulator_value=0.5, epsilon=1e-3)
  check_near(fifty_steps(Adagrad()), {0.500048518F, 0.300854474F, 0.100358181F, -0.116842099F, -0.31269291F},
             2e-6);
  check_near(fifty_steps(Adagrad({.initial_accumulator_value = 0.5, .epsilon = 1e-3})),
             {0.500021815F, 0.300383419F, 0.0999886915F, -0.114965178F, -0.312664717F}, 2e-6);
}
