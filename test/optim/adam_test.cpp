#include "convoke/optim/adam.hpp"

#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("adam: three steps computed by hand") {
  // beta 0.5 and 0.5: m = 0.5, -0.25, 0.875; v = 0.5, 0.75, 2.375; 1 - beta^t = 0.5, 0.75, 0.875.
  // With both biases corrected, the steps are 1, -1/3 and 1 / sqrt(2.375 / 0.875).
  const Adam adam({.beta_1 = 0.5, .beta_2 = 0.5, .epsilon = 1e-7});
  check_near(weight_after_each(adam, 1, {1.0F, -1.0F, 2.0F}), {0, 1.0F / 3, 1.0F / 3 - 0.6069769787F});
}

TEST_CASE("adam: epsilon is added to the root, before bias correction") {
  // m = 0.1, v = 0.001, alpha = sqrt(0.001) / 0.1: the step is alpha m / (sqrt(v) + 1).
  const Adam adam({.epsilon = 1.0});
  CHECK(weight_after_each(adam, 0, {1.0F})[0] == Approx(-0.0316227766 / 1.0316227766));
}

TEST_CASE("adam: fifty steps equal Keras'") {
  // keras.optimizers.Adam(0.01), Adam(0.01, beta_1=0.8, beta_2=0.99, epsilon=1e-3). The tolerance is a
  // thousandth of a step, because Keras rounds 1 - beta^t to single precision.
  check_near(fifty_steps(Adam()), {0.499301642F, 0.360944986F, 0.126014516F, -0.137699947F, -0.34524709F},
             1e-5);
  check_near(fifty_steps(Adam({.beta_1 = 0.8, .beta_2 = 0.99, .epsilon = 1e-3})),
             {0.500809491F, 0.328165054F, 0.120320328F, -0.130962133F, -0.337959707F}, 1e-5);
}
