// Outputs of torchvision and of Keras Applications for weights that both sides have. compare.py --golden
// prints them. These tests show a change of padding, epsilon, activation or order in a network of the zoo.
#include "golden.hpp"
#include "support/catch.hpp"
#include "weights.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

struct Golden {
  const char* name;
  std::int64_t size;            // height and width of the image
  std::vector<double> outputs;  // (2, 3): two samples, three classes
  bool pixels = false;          // the network takes values in 0..255 instead of -2..2
};

std::vector<double> outputs_of(const Golden& golden) {
  const Graph graph = comparison_model(golden.name, golden.size, 3);
  Experiment experiment(graph, {.micro_batch = 2, .training = false}, false);
  for (const ParameterSlot& slot : experiment.layout->slots())
    experiment.set(slot.name, comparison_weights(slot.name, slot.spec.shape));
  Batch batch(graph, 2);
  const std::vector<double> samples = golden_fill(static_cast<int>(batch.input.size()));
  std::transform(samples.begin(), samples.end(), batch.input.begin(),
                 [&](double x) { return static_cast<float>(golden.pixels ? (x + 2) * 63.75 : x); });
  return experiment.run(batch).output;
}

/// Checks that the largest difference is small compared with the difference between the outputs of two
/// samples. A network that hardly depends on its input would fail.
void check(const Golden& golden) {
  INFO(golden.name);
  const std::vector<double> actual = outputs_of(golden);
  REQUIRE(actual.size() == golden.outputs.size());
  double largest = 0, squares = 0;
  for (std::size_t i = 0; i < 3; ++i) squares += std::pow(golden.outputs[i] - golden.outputs[i + 3], 2);
  for (std::size_t i = 0; i < 6; ++i) largest = std::max(largest, std::abs(actual[i] - golden.outputs[i]));
  CHECK(largest < 1e-3 * std::sqrt(squares / 3));
}

}  // namespace

TEST_CASE("zoo models equal torchvision's") {
  // compare.py --classes 3 --size 64 --golden, torchvision 0.29.2
  const Golden goldens[] = {
      {"resnet18", 64, {27.70081, 10.50002, 65.60015, 34.3364, 1.269743, 69.68361}},
      {"mobilenet-v2", 64, {3.886996, -5.496721, 1.458081, 5.373157, -4.791711, 0.9661886}},
      {"mobilenet-v3-small", 64, {107.3934, -20.19618, 72.88036, 93.65147, -46.22136, 88.27344}},
      {"shufflenet-v2", 64, {148.0013, -148.6583, -329.0966, 147.5803, -210.7729, -312.1785}},
      {"squeezenet1.1", 64, {2.334624, 0.7920509, 0.9346566, 2.221431, 0.8589851, 1.00041}},
      {"efficientnet-b0", 64, {3.840724, -7.975837, -0.6163417, 7.947557, -4.896768, 1.589572}},
  };
  for (const Golden& golden : goldens) check(golden);
}

TEST_CASE("larger zoo models equal torchvision's") {
  const Golden goldens[] = {
      {"densenet121", 64, {3.967583, -10.94092, -0.7050322, 3.913125, -10.87545, -0.8396643}},
      {"convnext-tiny", 64, {-0.583935, -0.9378062, 2.219442, 0.7781282, -0.9222013, 2.560105}},
  };
  for (const Golden& golden : goldens) check(golden);
}

TEST_CASE("EfficientNet in TensorFlow's form equals timm's") {
  // compare.py --classes 3 --size 64 --gain 1 --golden, timm 1.0.31
  check({"tf-efficientnet-b0", 64, {3.570286, -2.863354, -1.099663, 3.408824, -2.895541, -1.941009}});
  check({"efficientnet-lite0", 64, {3.539999, -2.141211, -3.357041, 2.334246, -1.872769, -2.548882}});
  check({"efficientnet-lite4", 64, {3.913059, -9.199312, -0.5434219, 1.520334, -8.16546, -0.3929337}});
}

TEST_CASE("a residual network for 32 x 32 equals PyTorch's") {
  // compare.py --classes 3 --size 32 --golden, PyTorch 2.15.0, cifar_networks.py
  check({"resnet20", 32, {-17.60374, 29.29164, 38.62575, -14.90274, 29.75809, 40.70231}});
}

TEST_CASE("zoo models equal Keras Applications'") {
  // compare.py --classes 3 --size 80 --golden, Keras 3.15.1
  const Golden goldens[] = {
      {"mobilenet-v1", 80, {-1.355676, -1.886882, 0.6702808, -1.511912, -1.871714, 0.7244678}},
      {"resnet50-keras", 80, {-9107.155, -11475.16, -5616.831, -8743.076, -11395.03, -5926.98}},
      {"efficientnet-b0-keras", 80, {7.14632, -16.65332, -2.712717, 11.23476, -19.22617, -3.495824}, true},
  };
  for (const Golden& golden : goldens) check(golden);
}

TEST_CASE("larger zoo models equal Keras Applications'") {
  const Golden goldens[] = {
      {"xception", 80, {2155856, 157639.6, -2492092, 2078529, 98176.82, -2652939}},
      {"inception-v3", 80, {-2.212818, -1.137646, 0.6914279, -2.177627, -1.140323, 0.8085647}},
  };
  for (const Golden& golden : goldens) check(golden);
}
