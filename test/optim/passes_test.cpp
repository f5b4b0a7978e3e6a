#include "convoke/optim/passes.hpp"

#include "convoke/core/random.hpp"
#include "convoke/optim/sgd.hpp"
#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::optim;

namespace {

// fifty_steps of SGD with momentum 0.9, where `clip` changes the gradients.
template <class Clip>
std::vector<float> clipped_steps(Clip clip) {
  const Sgd sgd({.momentum = 0.9});
  Training training(sgd, {0.5F, 0.3F, 0.1F, -0.1F, -0.3F});
  for (int t = 1; t <= 50; ++t) {
    std::vector<float> gradients = gradients_of_step(t);
    clip(gradients);
    training.step(gradients, 0.01);
  }
  return training.weights();
}

}  // namespace

TEST_CASE("norms equal those of a plain loop, and padding with zeros changes no bit") {
  RandomStream random({.seed = 1, .purpose = Purpose::kBench});
  for (const std::size_t n : {0, 1, 15, 16, 17, 1000, 40961}) {
    std::vector<float> values(n);
    long double squares = 0;
    long double magnitudes = 0;
    for (float& value : values) {
      value = static_cast<float>(random.normal());
      squares += static_cast<long double>(value) * static_cast<long double>(value);
      magnitudes += std::abs(static_cast<long double>(value));
    }
    const double sum = sum_of_squares(values);
    CHECK(sum == Approx(static_cast<double>(squares)).epsilon(1e-13));
    CHECK(sum_of_magnitudes(values) == Approx(static_cast<double>(magnitudes)).epsilon(1e-13));
    values.resize((n + 15) / 16 * 16 + 32);
    CHECK(sum_of_squares(values) == sum);
  }
}

TEST_CASE("a penalty and its gradient equal those of Keras' L1L2") {
  // w = tf.Variable([0.5, -0.25, 0.0, 1.5, -2.0, 0.125])
  // with tf.GradientTape() as tape: p = keras.regularizers.L1L2(l1=0.01, l2=0.1)(w)
  // p, tape.gradient(p, w)
  const std::vector<float> weights{0.5F, -0.25F, 0.0F, 1.5F, -2.0F, 0.125F};
  const std::vector<float> expected{0.109999999F, -0.0600000024F, 0,
                                    0.310000002F, -0.409999996F,  0.0350000001F};
  std::vector<float> gradients(6);
  CHECK(add_penalty(weights, 0.01, 0.1, gradients) == Approx(0.701562524));
  for (std::size_t i = 0; i < 6; ++i) CHECK(gradients[i] == Approx(expected[i]).margin(1e-8));
  CHECK(gradients[2] == 0);

  // The gradient is added to the existing values.
  CHECK(add_penalty(weights, 1.0, 0.0, gradients) == Approx(4.375));
  CHECK(gradients[4] == Approx(expected[4] - 1));
  CHECK(add_penalty(weights, 0.0, 1.0, gradients) == Approx(6.578125));
}

TEST_CASE("clipping by value equals Keras'") {
  // keras.optimizers.SGD(0.01, momentum=0.9, clipvalue=0.05)
  check_near(clipped_steps([](auto& gradients) { clip_by_value(gradients, 0.05F); }),
             {0.500043273F, 0.301634908F, 0.103335969F, -0.0856781527F, -0.284026951F});
}

TEST_CASE("clipping by the global norm equals Keras'") {
  // keras.optimizers.SGD(0.01, momentum=0.9, global_clipnorm=0.5)
  check_near(clipped_steps([](auto& gradients) {
               const double norm = std::sqrt(sum_of_squares(gradients));
               scale(gradients, static_cast<float>(clip_factor(norm, 0.5)));
             }),
             {0.500017822F, 0.300022662F, 0.0983241424F, -0.111243501F, -0.19256492F});
}

TEST_CASE("gradients within the bounds do not change") {
  CHECK(clip_factor(0, 1) == 1);
  CHECK(clip_factor(1, 1) == 1);
  CHECK(clip_factor(4, 1) == 0.25);
  std::vector<float> values{-3, -1, -0.5F, 0, 1, 2, std::nanf(""), HUGE_VALF};
  clip_by_value(values, 1);
  CHECK(std::isnan(values[6]));
  values.erase(values.begin() + 6);
  CHECK(values == std::vector<float>{-1, -1, -0.5F, 0, 1, 1, 1});
}

TEST_CASE("the moving average of fifty steps equals Keras'") {
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
  check_near(average, {0.500044584F, 0.301409781F, 0.103069603F, -0.22455284F, -1.27331817F});
}
