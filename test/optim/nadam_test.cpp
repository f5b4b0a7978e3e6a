#include "convoke/optim/nadam.hpp"

#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

TEST_CASE("nadam: two steps computed by hand") {
  // mu = 0.5 (1 - 0.96^t / 2) = 0.26, 0.2696, 0.278816; products 0.26, 0.070096, 0.0195438863.
  const Nadam nadam({.beta_1 = 0.5, .beta_2 = 0.5});
  // m = 0.5, v = 0.5 of 1 - 0.5: (0.2696 * 0.5 / 0.929904 + 0.74 * 1 / 0.74) / 1
  // m = -0.25, v = 0.75 of 1 - 0.25: (0.278816 * -0.25 / 0.9804561137 + 0.7304 * -1 / 0.929904) / 1
  check_near(weight_after_each(nadam, 1, {1.0F, -1.0F}),
             {-0.144961200F, -0.144961200F + 0.0710934504F + 0.785457424F});
}

TEST_CASE("nadam: fifty steps equal Keras'") {
  // keras.optimizers.Nadam(0.01), Nadam(0.01, beta_1=0.8, beta_2=0.99, epsilon=1e-3); the tolerance is
  // Adam's.
  check_near(fifty_steps(Nadam()), {0.506460249F, 0.337469727F, 0.108694665F, -0.123145394F, -0.322009981F},
             1e-5);
  check_near(fifty_steps(Nadam({.beta_1 = 0.8, .beta_2 = 0.99, .epsilon = 1e-3})),
             {0.502847254F, 0.33374691F, 0.107985862F, -0.125192195F, -0.322274476F}, 1e-5);
}

TEST_CASE("nadam: the product of the momentum's schedule equals that of a plain loop of any length") {
  // With a constant gradient of 1 both moments stay 1, so the products alone determine the step.
  const Nadam nadam({.beta_1 = 0.9999, .beta_2 = 0.5});
  const auto mu = [](std::int64_t t) { return 0.9999 * (1 - 0.5 * std::pow(0.96, static_cast<double>(t))); };
  double product = 1;
  for (std::int64_t t = 1; t <= 2000; ++t) {
    product *= mu(t);
    float weight = 0;
    const float gradient = 1;
    float mean = 1;
    float mean_square = 1;
    std::vector<float*> states{&mean, &mean_square};
    nadam.step({{&weight, 1}, {&gradient, 1}, states, t}, 0.5);
    const double scale = 1 / std::sqrt(1 / (1 - std::pow(0.5, static_cast<double>(t))));
    const double expected =
        0.5 * (mu(t + 1) / (1 - product * mu(t + 1)) + (1 - mu(t)) / (1 - product)) * scale;
    if (t < 5 || (t > 895 && t < 905) || t == 2000) CHECK(weight == Approx(-expected).epsilon(1e-5));
  }
}
