#include "convoke/optim/adamw.hpp"

#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("adamw: three steps computed by hand") {
  // As in Adam's test, but a tenth of the weight is subtracted before each step.
  const AdamW adamw({.adam = {.beta_1 = 0.5, .beta_2 = 0.5}, .weight_decay = 0.1});
  Training training(adamw, {1.0F});
  training.step({1.0F}, 1.0);
  CHECK(training.weights()[0] == Approx(0.9 - 1).margin(1e-6));
  training.step({-1.0F}, 1.0);
  CHECK(training.weights()[0] == Approx(-0.09 + 1.0 / 3).margin(1e-6));
  training.step({2.0F}, 1.0);
  CHECK(training.weights()[0] == Approx(0.9 * (-0.09 + 1.0 / 3) - 0.6069769787).margin(1e-6));
}

TEST_CASE("adamw: fifty steps equal Keras'") {
  // keras.optimizers.AdamW(0.01), AdamW(0.01, weight_decay=0.1, beta_1=0.8, beta_2=0.99, epsilon=1e-3); the
  // tolerance is Adam's.
  check_near(fifty_steps(AdamW()), {0.498307347F, 0.36024183F, 0.125768796F, -0.137439728F, -0.344570607F},
             1e-5);
  check_near(
      fifty_steps(AdamW({.adam = {.beta_1 = 0.8, .beta_2 = 0.99, .epsilon = 1e-3}, .weight_decay = 0.1})),
      {0.476374537F, 0.312475085F, 0.114639178F, -0.124903053F, -0.32183063F}, 1e-5);
}

TEST_CASE("adamw: vectors decay too, unless they are excluded") {
  const AdamW all({.weight_decay = 0.1});
  const AdamW without({.weight_decay = 0.1, .exclude_vectors = true});
  CHECK(fifty_steps(all, true) == fifty_steps(all, false));
  CHECK(fifty_steps(without, false) == fifty_steps(all));
  CHECK(fifty_steps(without, true) == fifty_steps(Adam()));
  CHECK(all.scope() == Scope::kElements);
  CHECK(without.scope() == Scope::kParameter);
}
