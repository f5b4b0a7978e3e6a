#include "nn/plan/convolution_choice.hpp"

#include <optional>
#include <string>

#include "convoke/nn/backend.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/variable.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

constexpr Pass kPasses[] = {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeights};

ConvolutionShape shape(std::int64_t samples, std::int64_t in, std::int64_t out, std::int64_t side,
                       std::int64_t padding) {
  const std::int64_t output = side + 2 * padding - 2;
  return {samples, in, out, side, side, output, output, true};
}

bool automatic(Pass pass, const ConvolutionShape& shape, ProcessorKind processor) {
  return prefers_winograd(pass, shape, ConvolutionChoice::kAuto, processor);
}

}  // namespace

TEST_CASE("auto takes what is faster for both CNNs on each kind of processor") {
  for (const Pass pass : kPasses) {
    CAPTURE(static_cast<int>(pass));
    for (const std::int64_t samples : {4, 8, 64}) {
      // The 93k CNN: 13 x 13 -> 11 x 11 and 5 x 5 -> 3 x 3.
      CHECK(automatic(pass, shape(samples, 32, 64, 13, 0), ProcessorKind::kOther));
      CHECK_FALSE(automatic(pass, shape(samples, 32, 64, 13, 0), ProcessorKind::kIntel));
      CHECK_FALSE(automatic(pass, shape(samples, 64, 64, 5, 0), ProcessorKind::kIntel));
    }
    CHECK_FALSE(automatic(pass, shape(4, 64, 64, 5, 0), ProcessorKind::kOther));  // a lane of the recipes
    // The 905k CNN: 28 x 28 and 14 x 14, padded.
    for (const ProcessorKind kind : {ProcessorKind::kIntel, ProcessorKind::kOther}) {
      CHECK(automatic(pass, shape(32, 32, 64, 28, 1), kind));
      CHECK(automatic(pass, shape(32, 64, 128, 14, 1), kind));
      CHECK_FALSE(automatic(pass, shape(32, 1, 32, 28, 1), kind));
    }
  }
}

TEST_CASE("a forced choice is the same on each kind of processor") {
  for (const Pass pass : kPasses) {
    for (const ProcessorKind kind : {ProcessorKind::kIntel, ProcessorKind::kOther}) {
      CHECK(prefers_winograd(pass, shape(1, 1, 1, 5, 0), ConvolutionChoice::kWinograd, kind));
      CHECK_FALSE(prefers_winograd(pass, shape(64, 64, 64, 28, 1), ConvolutionChoice::kDirect, kind));
    }
  }
}

TEST_CASE("the kind of processor is the machine's, or what the environment says") {
  {
    const Variable none("CONVOKE_PROCESSOR", std::nullopt);
    const std::string kind(name_of(processor_kind()));
    CHECK((kind == "intel" || kind == "other"));
    CHECK(backend().processor_kind == kind);
  }
  {
    const Variable empty("CONVOKE_PROCESSOR", "");
    CHECK_NOTHROW(processor_kind());
  }
  {
    const Variable intel("CONVOKE_PROCESSOR", "intel");
    CHECK(processor_kind() == ProcessorKind::kIntel);
    CHECK(backend().processor_kind == "intel");
  }
  {
    const Variable other("CONVOKE_PROCESSOR", "other");
    CHECK(processor_kind() == ProcessorKind::kOther);
  }
  const Variable wrong("CONVOKE_PROCESSOR", "arm");
  CHECK(error_of([] { processor_kind(); }) ==
        "the environment has CONVOKE_PROCESSOR=arm, which is no kind of processor");
}
