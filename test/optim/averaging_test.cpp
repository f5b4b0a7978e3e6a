#include "convoke/optim/averaging.hpp"

#include "convoke/optim/sgd.hpp"
#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("the moving average of fifty steps is Keras'") {
  // keras.optimizers.SGD(0.01, momentum=0.9, use_ema=True, ema_momentum=0.9), then
  // optimizer.finalize_variable_values([w])
  const Sgd sgd({.momentum = 0.9});
  Training training(sgd, {0.5F, 0.3F, 0.1F, -0.1F, -0.3F});
  std::vector<float> average(5);
  for (int t = 1; t <= 50; ++t) {
    training.step(gradients_of_step(t), 0.01);
    update_average(training.weights(), t == 1 ? 0.0 : 0.9, average);
    if (t == 1) CHECK(average == training.weights());
  }
  const std::vector<float> expected{0.500044584F, 0.301409781F, 0.103069603F, -0.22455284F, -1.27331817F};
  for (std::size_t i = 0; i < 5; ++i) CHECK(average[i] == Catch::Approx(expected[i]).epsilon(0).margin(2e-6));
}
