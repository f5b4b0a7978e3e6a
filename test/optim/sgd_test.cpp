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
