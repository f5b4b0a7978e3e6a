#include "convoke/optim/adamw.hpp"

#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("adamw: three steps computed by hand") {
  // As in Adam's test, but a tenth of the weight is subtracted before each step.
  const AdamW adamw({.adam = {.beta_1 = 0.5, .beta_2 = 0.5}, .weight_decay = 0.1});
  check_near(weight_after_each(adamw, 1, {1.0F, -1.0F, 2.0F}),
             {0.9F - 1, -0.09F + 1.0F / 3, 0.9F * (-0.09F + 1.0F / 3) - 0.6069769787F});
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
