#include "nn/plan/weight_form.hpp"

#include "support/catch.hpp"

using namespace convoke::nn;

namespace {

constexpr Pass kPasses[] = {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeights};

WinogradShape shape(std::int64_t samples, std::int64_t in, std::int64_t out, std::int64_t side,
                    std::int64_t padding) {
  const std::int64_t output = side + 2 * padding - 2;
  return {samples, in, out, side, side, output, output, padding, padding};
}

bool automatic(Pass pass, const WinogradShape& shape) {
  return prefers_winograd(pass, shape, kFloat, ConvolutionChoice::kAuto);
}

}  // namespace

TEST_CASE("auto chooses the algorithm that was measured to be faster") {
  for (const Pass pass : kPasses) {
    CAPTURE(static_cast<int>(pass));
    // The two CNNs, with a micro-batch of the recipes and a whole batch; ResNet-50 and VGG-16.
    for (const std::int64_t samples : {4, 8, 64}) {
      CHECK(automatic(pass, shape(samples, 32, 64, 13, 0)));
      CHECK(automatic(pass, shape(samples, 64, 64, 5, 0)));
      CHECK(automatic(pass, shape(samples, 32, 64, 28, 1)));
      CHECK(automatic(pass, shape(samples, 64, 128, 14, 1)));
      CHECK(automatic(pass, shape(samples, 64, 64, 56, 1)));
      CHECK(automatic(pass, shape(samples, 512, 512, 14, 1)));
    }
    CHECK(automatic(pass, shape(8, 512, 512, 7, 1)));
    CHECK_FALSE(automatic(pass, shape(16, 64, 64, 1, 1)));  // a single pixel needs a tile of four
  }
  // For a single small image, transforming the weights costs more than its few tiles save.
  CHECK_FALSE(automatic(Pass::kForward, shape(1, 512, 512, 7, 1)));
  CHECK_FALSE(automatic(Pass::kBackwardData, shape(4, 512, 512, 4, 1)));
  CHECK_FALSE(automatic(Pass::kBackwardWeights, shape(1, 64, 64, 5, 0)));
  CHECK(automatic(Pass::kForward, shape(1, 64, 64, 5, 0)));
}

TEST_CASE("a forced choice does not depend on the shape") {
  for (const Pass pass : kPasses) {
    CHECK(prefers_winograd(pass, shape(1, 16, 16, 3, 0), kFloat, ConvolutionChoice::kWinograd));
    CHECK_FALSE(prefers_winograd(pass, shape(64, 64, 64, 28, 1), kFloat, ConvolutionChoice::kDirect));
  }
}
