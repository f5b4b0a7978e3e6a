#include "convoke/optim/rmsprop.hpp"

#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("rmsprop: three steps computed by hand") {
  // rho 0.5: s = 0.5, 0.75, 2.375; g / sqrt(s) = 1.4142136, -1.1547005, 1.2977714.
  const RmsProp plain({.rho = 0.5});
  Training training(plain, {1.0F});
  training.step({1.0F}, 1.0);
  CHECK(training.weights()[0] == Approx(1 - 1.4142136).margin(1e-6));
  training.step({-1.0F}, 1.0);
  CHECK(training.weights()[0] == Approx(1 - 1.4142136 + 1.1547005).margin(1e-6));
  training.step({2.0F}, 1.0);
  CHECK(training.weights()[0] == Approx(1 - 1.4142136 + 1.1547005 - 1.2977714).margin(1e-6));

  // momentum 0.5: v = 1.4142136, -0.4475937, 1.0739746
  const RmsProp heavy({.rho = 0.5, .momentum = 0.5});
  Training ball(heavy, {1.0F});
  ball.step({1.0F}, 1.0);
  ball.step({-1.0F}, 1.0);
  CHECK(ball.weights()[0] == Approx(1 - 1.4142136 + 0.4475937).margin(1e-6));
  ball.step({2.0F}, 1.0);
  CHECK(ball.weights()[0] == Approx(1 - 1.4142136 + 0.4475937 - 1.0739746).margin(1e-6));
}

TEST_CASE("rmsprop: epsilon is added inside the root") {
  const RmsProp rmsprop({.rho = 0.0, .epsilon = 3.0});
  Training training(rmsprop, {0.0F});
  training.step({1.0F}, 1.0);
  CHECK(training.weights()[0] == -0.5F);  // 1 / sqrt(1 + 3)
}

TEST_CASE("rmsprop: fifty steps equal Keras'") {
  // keras.optimizers.RMSprop(0.01), RMSprop(0.01, rho=0.8, momentum=0.9, epsilon=1e-5)
  const std::vector<float> defaults{0.521201253F, 0.383213878F, 0.111356251F, -0.147783488F, -0.341553658F};
  const std::vector<float> others{0.513490319F, 0.631404638F, 0.228422403F, -0.29995504F, -0.574346185F};
  const std::vector<float> a = fifty_steps(RmsProp());
  const std::vector<float> b = fifty_steps(RmsProp({.rho = 0.8, .momentum = 0.9, .epsilon = 1e-5}));
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(a[i] == Approx(defaults[i]).epsilon(0).margin(2e-6));
    CHECK(b[i] == Approx(others[i]).epsilon(0).margin(2e-6));
  }
}

TEST_CASE("rmsprop: there is a second state only with momentum") {
  CHECK(RmsProp().state_slots() == 1);
  CHECK(RmsProp({.momentum = 0.9}).state_slots() == 2);
}
