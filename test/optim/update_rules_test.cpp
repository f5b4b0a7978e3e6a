#include "convoke/optim/adam.hpp"
#include "convoke/optim/large_batch.hpp"
#include "convoke/optim/rmsprop.hpp"
#include "convoke/optim/sgd.hpp"
#include "optim/training.hpp"
#include "support/catch.hpp"

using namespace convoke::optim;

namespace {

// From 1 at rate 0.5. All numbers are binary fractions, so equality is exact.
std::vector<float> three_steps(const Sgd& sgd) { return weight_after_each(sgd, 1, {0.5F, -1.0F, 2.0F}, 0.5); }

}  // namespace

TEST_CASE("sgd: three steps computed by hand") {
  CHECK(three_steps(Sgd()) == std::vector<float>{0.75F, 1.25F, 0.25F});
  // v = -0.25, 0.375, -0.8125
  CHECK(three_steps(Sgd({.momentum = 0.5})) == std::vector<float>{0.75F, 1.125F, 0.3125F});
  // w += 0.5 v - 0.5 g = -0.375, 0.6875, -1.40625
  CHECK(three_steps(Sgd({.momentum = 0.5, .nesterov = true})) ==
        std::vector<float>{0.625F, 1.3125F, -0.09375F});
}

TEST_CASE("sgd: fifty steps equal Keras'") {
  // keras.optimizers.SGD(0.01), SGD(0.01, momentum=0.9), SGD(0.01, momentum=0.9, nesterov=True)
  check_near(fifty_steps(Sgd()), {0.500015378F, 0.300271749F, 0.0999156684F, -0.127629101F, -0.439380825F});
  check_near(fifty_steps(Sgd({.momentum = 0.9})),
             {0.500043273F, 0.301634908F, 0.104402997F, -0.239932075F, -1.48893523F});
  check_near(fifty_steps(Sgd({.momentum = 0.9, .nesterov = true})),
             {0.500054419F, 0.301743269F, 0.103878379F, -0.253568053F, -1.50942266F});
}

TEST_CASE("sgd: there is a state only with momentum") {
  CHECK(Sgd().state_slots() == 0);
  CHECK(Sgd({.momentum = 0.9}).state_slots() == 1);
}

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

TEST_CASE("adagrad: three steps computed by hand") {
  // s = 1 + 3, 4 + 5, 9 + 16; g / sqrt(s) = sqrt(3) / 2, sqrt(5) / 3, -4 / 5
  const Adagrad adagrad({.initial_accumulator_value = 1.0});
  check_near(weight_after_each(adagrad, 1, {1.7320508F, 2.2360680F, -4.0F}),
             {1 - 0.8660254F, 1 - 0.8660254F - 0.7453560F, 1 - 0.8660254F - 0.7453560F + 0.8F});
}

TEST_CASE("adagrad: fifty steps equal Keras'") {
  // keras.optimizers.Adagrad(0.01), Adagrad(0.01, initial_accumulator_value=0.5, epsilon=1e-3)
  check_near(fifty_steps(Adagrad()), {0.500048518F, 0.300854474F, 0.100358181F, -0.116842099F, -0.31269291F},
             2e-6);
  check_near(fifty_steps(Adagrad({.initial_accumulator_value = 0.5, .epsilon = 1e-3})),
             {0.500021815F, 0.300383419F, 0.0999886915F, -0.114965178F, -0.312664717F}, 2e-6);
}

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
