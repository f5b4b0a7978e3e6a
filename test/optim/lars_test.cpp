#include "convoke/optim/lars.hpp"

#include "convoke/optim/sgd.hpp"
#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("lars: two steps computed by hand") {
  // ||w|| = 5, ||g|| = 10: the rate is 0.1 * 2 * 5 / (10 + 0.5 * 5) = 0.08
  // v = -0.08 (g + 0.5 w) = -0.08 (7.5, 10)
  const Lars lars({.momentum = 0.5, .weight_decay = 0.5, .trust_coefficient = 2.0, .epsilon = 0.0});
  Training training(lars, {3.0F, 4.0F});
  training.step({6.0F, 8.0F}, 0.1);
  CHECK(training.weights()[0] == Approx(2.4));
  CHECK(training.weights()[1] == Approx(3.2));
  // ||w|| = 4, ||g|| = 2: 0.1 * 2 * 4 / (2 + 0.5 * 4) = 0.2; v = 0.5 (-0.6, -0.8) - 0.2 (1.2 - 2, 1.6 + 0)
  training.step({-2.0F, 0.0F}, 0.1);
  CHECK(training.weights()[0] == Approx(2.4 - 0.3 + 0.16));
  CHECK(training.weights()[1] == Approx(3.2 - 0.4 - 0.32));
}

TEST_CASE("lars: fifty steps equal timm's") {
  // timm 1.0.31 (PyTorch 2.15): Lars([w], lr=1.0, momentum=0.9, weight_decay=1e-4),
  //   Lars([w], lr=0.01, momentum=0.8, weight_decay=0.02, trust_coeff=1.0, eps=1e-3)
  check_near(fifty_steps(Lars(), false, 1.0),
             {0.499999374F, 0.300001204F, 0.0997718275F, -0.101517424F, -0.28536427F}, 2e-6);
  check_near(
      fifty_steps(Lars({.momentum = 0.8, .weight_decay = 0.02, .trust_coefficient = 1.0, .epsilon = 1e-3})),
      {0.496701419F, 0.298017234F, 0.098093003F, -0.106401145F, -0.211328864F}, 2e-6);
}

TEST_CASE("lars: a vector gets the step of plain SGD, unless vectors are included") {
  CHECK(fifty_steps(Lars(), true) == fifty_steps(Sgd({.momentum = 0.9})));
  CHECK(fifty_steps(Lars({.exclude_vectors = false}), true) == fifty_steps(Lars()));
}

TEST_CASE("lars: if a norm is zero, the learning rate is not scaled") {
  const Lars lars({.weight_decay = 0.0});
  Training zero(lars, {0.0F, 0.0F});
  zero.step({1.0F, 2.0F}, 0.5);
  CHECK(zero.weights() == std::vector<float>{-0.5F, -1.0F});
  Training still(lars, {1.0F, 2.0F});
  still.step({0.0F, 0.0F}, 0.5);
  CHECK(still.weights() == std::vector<float>{1.0F, 2.0F});
}
