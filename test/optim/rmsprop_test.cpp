#include "convoke/optim/rmsprop.hpp"

#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("rmsprop: three steps computed by hand") {
  // rho 0.5: s = 0.5, 0.75, 2.375; g / sqrt(s) = 1.4142136, -1.1547005, 1.2977714.
  check_near(weight_after_each(RmsProp({.rho = 0.5}), 1, {1.0F, -1.0F, 2.0F}),
             {1 - 1.4142136F, 1 - 1.4142136F + 1.1547005F, 1 - 1.4142136F + 1.1547005F - 1.2977714F});
  // momentum 0.5: v = 1.4142136, -0.4475937, 1.0739746
  check_near(weight_after_each(RmsProp({.rho = 0.5, .momentum = 0.5}), 1, {1.0F, -1.0F, 2.0F}),
             {1 - 1.4142136F, 1 - 1.4142136F + 0.4475937F, 1 - 1.4142136F + 0.4475937F - 1.0739746F});
}

TEST_CASE("rmsprop: epsilon is added inside the root") {
  const RmsProp rmsprop({.rho = 0.0, .epsilon = 3.0});
  CHECK(weight_after_each(rmsprop, 0, {1.0F})[0] == -0.5F);  // 1 / sqrt(1 + 3)
}

TEST_CASE("rmsprop: fifty steps equal Keras'") {
  // keras.optimizers.RMSprop(0.01), RMSprop(0.01, rho=0.8, momentum=0.9, epsilon=1e-5)
  check_near(fifty_steps(RmsProp()),
             {0.521201253F, 0.383213878F, 0.111356251F, -0.147783488F, -0.341553658F});
  check_near(fifty_steps(RmsProp({.rho = 0.8, .momentum = 0.9, .epsilon = 1e-5})),
             {0.513490319F, 0.631404638F, 0.228422403F, -0.29995504F, -0.574346185F});
}

TEST_CASE("rmsprop: there is a second state only with momentum") {
  CHECK(RmsProp().state_slots() == 1);
  CHECK(RmsProp({.momentum = 0.9}).state_slots() == 2);
}
