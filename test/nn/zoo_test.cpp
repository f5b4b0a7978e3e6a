// The zoo against the counts of torchvision, Keras Applications and the papers.
#include "convoke/nn/zoo.hpp"

#include <algorithm>
#include <cmath>

#include "experiment.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

struct Counts {
  const char* name;
  std::int64_t classes;
  std::int64_t parameters;  ///< with running statistics, as Keras' count_params
  std::int64_t trainable;   ///< without, as PyTorch's parameters()
};

// torchvision:
//   net = getattr(torchvision.models, name)()
//   trainable = sum(p.numel() for p in net.parameters())
//   parameters = trainable + sum(b.numel() for k, b in net.named_buffers() if "running" in k)
// resnet50-keras, Keras 3.15: m = keras.applications.ResNet50(weights=None); m.count_params(), and
//   sum(math.prod(v.shape) for v in m.trainable_weights)
// lenet5 and the networks for 32 x 32 by their papers' tables: convolutions c k k f, two per channel of a
// norm.
constexpr Counts kCounts[] = {
    {"alexnet", 1000, 61100840, 61100840},     {"lenet5", 10, 61706, 61706},
    {"resnet101", 1000, 44654504, 44549160},   {"resnet152", 1000, 60344232, 60192808},
    {"resnet18", 1000, 11699112, 11689512},    {"resnet34", 1000, 21814696, 21797672},
    {"resnet50", 1000, 25610152, 25557032},    {"resnet50-keras", 1000, 25636712, 25583592},
    {"squeezenet1.0", 1000, 1248424, 1248424}, {"squeezenet1.1", 1000, 1235496, 1235496},
    {"vgg11", 1000, 132863336, 132863336},     {"vgg11-bn", 1000, 132874344, 132868840},
    {"vgg13", 1000, 133047848, 133047848},     {"vgg13-bn", 1000, 133059624, 133053736},
    {"vgg16", 1000, 138357544, 138357544},     {"vgg16-bn", 1000, 138374440, 138365992},
    {"vgg19", 1000, 143667240, 143667240},     {"vgg19-bn", 1000, 143689256, 143678248},
};

Shape shape_at(const Graph& graph, const std::string& node) { return graph.node(graph.find(node)).shape; }

}  // namespace

TEST_CASE("networks of the zoo have as many parameters as published") {
  for (const Counts& expected : kCounts) {
    INFO(expected.name);
    const Graph graph = make_zoo_model(expected.name, {.input = {}, .classes = expected.classes});
    CHECK(graph.parameter_count() == expected.parameters);
    CHECK(graph.trainable_count() == expected.trainable);
  }
}

TEST_CASE("networks for 32 x 32 have as many parameters as published") {
  // Trainable, by hand. Width w, n blocks: stem 27 w + 2 w, each 3x3 convolution 9 in out + 2 out, each
  // projection in out + 2 out, head 64 * 10 + 10.
  CHECK(make_zoo_model("resnet20", {.input = {}, .classes = 10}).trainable_count() == 272474);
  CHECK(make_zoo_model("resnet56", {.input = {}, .classes = 10}).trainable_count() == 855770);
  CHECK(make_zoo_model("wide-resnet-28-10", {.input = {}, .classes = 10}).trainable_count() == 36479194);
}

TEST_CASE("every network of the zoo builds at its own input, with and without its head") {
  const std::vector<std::string> names = zoo_names();
  CHECK(std::is_sorted(names.begin(), names.end()));
  for (const std::string& name : names) {
    INFO(name);
    const Graph whole = make_zoo_model(name, {.input = {}, .classes = 7});
    CHECK(Shape(whole.input_shape()) == zoo_input(name));
    CHECK(whole.output_shape() == Shape{7});
    const Graph features = make_zoo_model(name, {.input = {}, .head = false});
    CHECK(features.output_shape().rank() == 1);
    CHECK(features.parameter_count() < whole.parameter_count());
  }
}

TEST_CASE("stages of the zoo's networks have the shapes of their papers' tables") {
  const Graph resnet = make_zoo_model("resnet50");
  CHECK(shape_at(resnet, "conv1") == Shape{64, 112, 112});
  CHECK(shape_at(resnet, "layer1.2.conv3") == Shape{256, 56, 56});
  CHECK(shape_at(resnet, "layer2.0.conv1") == Shape{128, 56, 56});  // the stride is in the 3x3
  CHECK(shape_at(resnet, "layer2.0.conv2") == Shape{128, 28, 28});
  CHECK(shape_at(resnet, "layer4.2.conv3") == Shape{2048, 7, 7});
  const Graph keras = make_zoo_model("resnet50-keras");
  CHECK(shape_at(keras, "conv3_block1_1_conv") == Shape{128, 28, 28});  // in the first 1x1
  CHECK(shape_at(keras, "conv5_block3_3_conv") == Shape{2048, 7, 7});
  CHECK(shape_at(make_zoo_model("vgg16"), "features.28") == Shape{512, 14, 14});
  CHECK(shape_at(make_zoo_model("alexnet"), "features.10") == Shape{256, 13, 13});
  CHECK(shape_at(make_zoo_model("squeezenet1.1"), "predictions") == Shape{1000, 13, 13});
  CHECK(shape_at(make_zoo_model("wide-resnet-28-10"), "layer3.3.conv2") == Shape{640, 8, 8});
}

TEST_CASE("an unknown network of the zoo is refused with the nearest") {
  CHECK_THROWS_WITH(make_zoo_model("resnet5"),
                    Catch::Contains("unknown zoo model \"resnet5\" (did you mean"));
  CHECK_THROWS_WITH(make_zoo_model("lenet5", {.input = {}, .classes = 0}),
                    Catch::Contains("classes must be at least 1"));
}

TEST_CASE("a network of the zoo trains a step on small pictures") {
  const Graph graph = make_zoo_model("resnet20", {.input = {3, 24, 24}, .classes = 4});
  const auto layout = std::make_shared<ParameterLayout>(graph, 2);
  Network network(graph, layout, {.lane = 2});
  const AlignedBuffer<float> parameters = initial_parameters(*layout, 1);
  AlignedBuffer<float> gradients(layout->size());
  network.bind(parameters.data(), gradients.data());
  const Batch batch(graph, 2);
  std::copy(batch.input.begin(), batch.input.end(), network.input().begin());
  network.forward(batch.key());
  CHECK(std::isfinite(network.loss(batch.labels, 2).loss));
  network.backward([](std::size_t) {});
  for (const ParameterSlot& slot : layout->slots()) {
    INFO(slot.name);
    const auto of_slot = gradients.span().subspan(slot.offset, slot.size);
    CHECK(std::all_of(of_slot.begin(), of_slot.end(), [](float g) { return std::isfinite(g); }));
  }
}
