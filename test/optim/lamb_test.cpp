#include "convoke/optim/lamb.hpp"

#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("lamb: a step computed by hand") {
  // The first step of Adam is the sign of the gradient: u = (1, -1) + 0.5 (3, 4) = (2.5, 1), of length
  // sqrt(7.25); the step is 0.1 * 5 / sqrt(7.25) along it.
  const Lamb lamb({.adam = {.epsilon = 1e-12}, .weight_decay = 0.5});
  Training training(lamb, {3.0F, 4.0F});
  training.step({6.0F, -0.25F}, 0.1);
  CHECK(training.weights()[0] == Approx(3 - 0.185695338 * 2.5));
  CHECK(training.weights()[1] == Approx(4 - 0.185695338));
}

TEST_CASE("lamb: fifty steps without weight decay equal Keras'") {
  // keras.optimizers.Lamb(0.01), Lamb(0.01, beta_1=0.8, beta_2=0.99, epsilon=1e-3); the tolerance is Adam's.
  check_near(fifty_steps(Lamb({.weight_decay = 0.0})),
             {0.504458606F, 0.330552191F, 0.109899975F, -0.123094365F, -0.321415633F}, 1e-5);
  check_near(
      fifty_steps(Lamb({.adam = {.beta_1 = 0.8, .beta_2 = 0.99, .epsilon = 1e-3}, .weight_decay = 0.0})),
      {0.501411736F, 0.320486814F, 0.106993139F, -0.117023289F, -0.315708995F}, 1e-5);
}

TEST_CASE("lamb: fifty steps with weight decay equal timm's") {
  // timm 1.0.31 (PyTorch 2.15): Lamb([w], lr=0.01, max_grad_norm=None, eps=1e-7),
  //   Lamb([w], lr=0.01, max_grad_norm=None, eps=1e-3, betas=(0.8, 0.99), weight_decay=0.1)
  check_near(fifty_steps(Lamb()), {0.501009762F, 0.329226106F, 0.108983777F, -0.123527855F, -0.319486797F},
             1e-5);
  check_near(
      fifty_steps(Lamb({.adam = {.beta_1 = 0.8, .beta_2 = 0.99, .epsilon = 1e-3}, .weight_decay = 0.1})),
      {0.477576017F, 0.311808974F, 0.103680082F, -0.118437998F, -0.305794686F}, 1e-5);
}

TEST_CASE("lamb: a vector gets the step of Adam, unless vectors are included") {
  // The two forms of Adam add epsilon before and after bias correction; without epsilon they are equal.
  check_near(fifty_steps(Lamb({.adam = {.epsilon = 1e-12}}), true), fifty_steps(Adam({.epsilon = 1e-12})),
             1e-6);
  CHECK(fifty_steps(Lamb({.exclude_vectors = false}), true) == fifty_steps(Lamb()));
}
