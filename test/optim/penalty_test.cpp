#include "convoke/optim/penalty.hpp"

#include <vector>

#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("a penalty and its gradient are those of Keras' L1L2") {
  // w = tf.Variable([0.5, -0.25, 0.0, 1.5, -2.0, 0.125])
  // with tf.GradientTape() as tape: p = keras.regularizers.L1L2(l1=0.01, l2=0.1)(w)
  // p, tape.gradient(p, w)
  const std::vector<float> weights{0.5F, -0.25F, 0.0F, 1.5F, -2.0F, 0.125F};
  const std::vector<float> expected{0.109999999F, -0.0600000024F, 0,
                                    0.310000002F, -0.409999996F,  0.0350000001F};
  std::vector<float> gradients(6);
  CHECK(add_penalty(weights, 0.01, 0.1, gradients) == Catch::Approx(0.701562524));
  for (std::size_t i = 0; i < 6; ++i) CHECK(gradients[i] == Catch::Approx(expected[i]).margin(1e-8));
  CHECK(gradients[2] == 0);

  // It is added to what is there.
  CHECK(add_penalty(weights, 1.0, 0.0, gradients) == Catch::Approx(4.375));
  CHECK(gradients[4] == Catch::Approx(expected[4] - 1));
  CHECK(add_penalty(weights, 0.0, 1.0, gradients) == Catch::Approx(6.578125));
}
