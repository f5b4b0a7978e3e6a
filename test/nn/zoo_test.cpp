// The families of the zoo, their blocks and heads: their sizes equal those of torchvision, Keras Applications
// and the papers.
#include "convoke/nn/zoo.hpp"
#include "convoke/core/checksum.hpp"
#include "convoke/core/text.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/layers/convolutions.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

struct Size {
  const char* name;
  std::int64_t parameters;
};

const Shape& shape_at(const Graph& graph, const std::string& name) {
  return graph.node(graph.find(name)).shape;
}

/// Checks that the loss and all gradients of a training step are finite.
void check_step(const char* name, const PlanOptions& options) {
  INFO(name);
  const Graph graph = make_zoo_model(name, {.input = {3, 32, 32}, .classes = 10});
  const Outcome outcome = Experiment(graph, options).run(Batch(graph, options.micro_batch));
  CHECK(std::isfinite(outcome.loss));
  for (const auto& [parameter, values] : outcome.gradients) {
    INFO(parameter);
    CHECK(std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }));
  }
}

}  // namespace

TEST_CASE("networks have torchvision's parameters") {
  // with torch.device("meta"): sum(p.numel() for p in getattr(torchvision.models, name)().parameters()),
  // which is also "num_params" of the weights' meta data
  const Size classic[] = {{"alexnet", 61100840},      {"resnet18", 11689512},     {"resnet34", 21797672},
                          {"resnet50", 25557032},     {"resnet101", 44549160},    {"resnet152", 60192808},
                          {"squeezenet1.0", 1248424}, {"squeezenet1.1", 1235496}, {"vgg11", 132863336},
                          {"vgg11-bn", 132868840},    {"vgg13", 133047848},       {"vgg13-bn", 133053736},
                          {"vgg16", 138357544},       {"vgg16-bn", 138365992},    {"vgg19", 143667240},
                          {"vgg19-bn", 143678248}};
  const Size modern[] = {
      {"densenet121", 7978856},      {"densenet169", 14149480},       {"densenet201", 20013928},
      {"mobilenet-v2", 3504872},     {"mobilenet-v3-large", 5483032}, {"mobilenet-v3-small", 2542856},
      {"efficientnet-b0", 5288548},  {"efficientnet-b1", 7794184},    {"efficientnet-b2", 9109994},
      {"efficientnet-b3", 12233232}, {"efficientnet-b4", 19341616},   {"efficientnet-b5", 30389784},
      {"efficientnet-b6", 43040704}, {"efficientnet-b7", 66347960},   {"shufflenet-v2", 2278604},
      {"convnext-tiny", 28589128},
  };
  for (const std::span<const Size> sizes : {std::span<const Size>(classic), std::span<const Size>(modern)}) {
    for (const Size& size : sizes) {
      INFO(size.name);
      const Graph graph = make_zoo_model(size.name);
      CHECK(graph.trainable_count() == size.parameters);
      CHECK(graph.output_shape() == Shape{1000});
    }
  }
}

TEST_CASE("networks have Keras' parameters") {
  // getattr(keras.applications, name)(weights=None).count_params()
  const Size sizes[] = {{"resnet50-keras", 25636712},  {"inception-v3", 23851784},
                        {"xception", 22910480},        {"mobilenet-v1", 4253864},
                        {"resnet101-keras", 44707176}, {"resnet152-keras", 60419944}};
  for (const Size& size : sizes) {
    INFO(size.name);
    CHECK(make_zoo_model(size.name).parameter_count() == size.parameters);
  }
}

TEST_CASE("classic networks have the parameters of the papers") {
  // "0.27M" and "0.85M" in the paper's table 6. With n blocks in a stage, without shortcuts: the first
  // convolution 432, stages 16^2 * 9 * 2n, (16 * 32 + 32^2 (2n - 1)) * 9, (32 * 64 + 64^2 (2n - 1)) * 9,
  // batch norms 32 + 448n, 650.
  CHECK(make_zoo_model("resnet20", {.input = {}, .classes = 10}).trainable_count() == 269722);
  CHECK(make_zoo_model("resnet56", {.input = {}, .classes = 10}).trainable_count() == 853018);
  // "36.5M" in the paper's table 4.
  CHECK(make_zoo_model("wide-resnet-28-10", {.input = {}, .classes = 10}).trainable_count() == 36479194);
  // 156 + 2,416 + 48,120 + 10,164 + 850
  CHECK(make_zoo_model("lenet5", {.input = {}, .classes = 10}).trainable_count() == 61706);
}

TEST_CASE("Keras' EfficientNets have its parameters, but for the 7 numbers of its Normalization layer") {
  // getattr(keras.applications, name)(weights=None).count_params()
  const Size sizes[] = {{"efficientnet-b0-keras", 5330571},  {"efficientnet-b1-keras", 7856239},
                        {"efficientnet-b2-keras", 9177569},  {"efficientnet-b3-keras", 12320535},
                        {"efficientnet-b4-keras", 19466823}, {"efficientnet-b5-keras", 30562527},
                        {"efficientnet-b6-keras", 43265143}, {"efficientnet-b7-keras", 66658687}};
  for (const Size& size : sizes) {
    INFO(size.name);
    const Graph graph = make_zoo_model(size.name);
    CHECK(graph.parameter_count() + 7 == size.parameters);
    const std::string name = size.name;
    CHECK(make_zoo_model("tf-" + name.substr(0, name.rfind('-'))).parameter_count() + 7 == size.parameters);
  }
}

TEST_CASE("the networks of the seed systems have the parameters of their papers") {
  // Computed by hand: 5*5+5 + 5*5+5 + 5*3+3
  CHECK(make_zoo_model("nn-twins", {.input = {}, .classes = 3}).parameter_count() == 78);
  // 20000*128 + 4*128*(128+128+1) + 128*128+128 + 128*64+64 + 64+1
  const Graph reviews = make_zoo_model("imdb-lstm", {.input = {}, .classes = 1});
  CHECK(reviews.parameter_count() == 2716417);
  CHECK(reviews.input_shape().type == ValueType::kToken);
  // 3*9*32+32 + 32*9*64+64 + 64*9*128+128 + 16*16*128*128+128 + 128*10+10
  CHECK(make_zoo_model("leaf-cnn", {.input = {}, .classes = 10}).parameter_count() == 4288970);
  // The features and 2048*1024+1024 + 1024*5+5
  const std::int64_t inception =
      make_zoo_model("inception-v3", {.input = {}, .classes = 1000, .head = false}).parameter_count();
  CHECK(make_zoo_model("retina", {.input = {}, .classes = 5}).parameter_count() == inception + 2103301);
  // The features and 2048*1024+1024 + 1024*512+512 + 512*256+256 + 4*(1024+512+256) + 256*525+525
  const std::int64_t efficient =
      make_zoo_model("efficientnet-b5-keras", {.input = {}, .classes = 1000, .head = false})
          .parameter_count();
  CHECK(make_zoo_model("birds", {.input = {}, .classes = 525}).parameter_count() == efficient + 2896397);
}

TEST_CASE("birds has the layers of Keras' EfficientNetB5, by name and size") {
  // m = keras.applications.EfficientNetB5(weights=None, include_top=False)
  // zlib.crc32("\n".join(sorted(f"{l.name} {l.count_params()}" for l in m.layers if l.weights and
  //                              type(l).__name__ != "Normalization")).encode())        Keras 3.15.1
  const Graph graph = make_zoo_model("birds");
  std::vector<std::string> layers;
  for (const Node& node : graph.nodes()) {
    if (node.name == "head.dense1") break;
    std::int64_t count = 0;
    for (const ParameterSpec& parameter : node.parameters) count += parameter.shape.elements();
    if (count > 0) layers.push_back(node.name + " " + std::to_string(count));
  }
  std::sort(layers.begin(), layers.end());
  CHECK(layers.size() == 310);
  const std::string text = join(layers, "\n");
  CHECK(crc32(std::as_bytes(std::span(text))) == 0xa26cf636);
}

TEST_CASE("stages of ResNet-50 have the paper's sizes") {
  const Graph graph = make_zoo_model("resnet50");
  std::vector<Shape> seen;
  for (const Node& node : graph.nodes()) {
    if (node.shape.rank() == 3 && (seen.empty() || seen.back() != node.shape)) seen.push_back(node.shape);
  }
  for (const Shape& stage : {Shape{64, 112, 112}, Shape{64, 56, 56}, Shape{256, 56, 56}, Shape{512, 28, 28},
                             Shape{1024, 14, 14}, Shape{2048, 7, 7}}) {
    INFO(stage.to_string());
    CHECK(std::find(seen.begin(), seen.end(), stage) != seen.end());
  }
}

TEST_CASE("stages of modern networks have the papers' sizes") {
  const Graph dense = make_zoo_model("densenet121");
  CHECK(shape_at(dense, "features.conv0") == Shape{64, 112, 112});
  CHECK(shape_at(dense, "features.transition1.conv") == Shape{128, 56, 56});
  CHECK(shape_at(dense, "features.transition2.conv") == Shape{256, 28, 28});
  CHECK(shape_at(dense, "features.transition3.conv") == Shape{512, 14, 14});
  CHECK(shape_at(dense, "features.norm5") == Shape{1024, 7, 7});
  const Graph mobile = make_zoo_model("mobilenet-v2");
  CHECK(shape_at(mobile, "features.0.0") == Shape{32, 112, 112});
  CHECK(shape_at(mobile, "features.17.conv.2") == Shape{320, 7, 7});
  CHECK(shape_at(mobile, "features.18.0") == Shape{1280, 7, 7});
  const Graph next = make_zoo_model("convnext-tiny");
  CHECK(shape_at(next, "features.0.0") == Shape{96, 56, 56});
  CHECK(shape_at(next, "features.7.2.block.5") == Shape{768, 7, 7});
  CHECK(shape_at(make_zoo_model("xception"), "block14_sepconv2") == Shape{2048, 10, 10});
  CHECK(make_zoo_model("convnext-tiny", {.input = {}, .classes = 1000, .head = false}).output_shape() ==
        Shape{768});
}

TEST_CASE("every network of the zoo can be built for its default input, with and without its head") {
  for (const std::string& name : zoo_names()) {
    INFO(name);
    const Graph bare = make_zoo_model(name, {.input = {}, .classes = 7, .head = false});
    CHECK(bare.parameter_count() > 0);
  }
  CHECK(error_of([] {
          make_zoo_model("resnet51");
        }).starts_with("unknown zoo model \"resnet51\" (did you mean"));
  CHECK(!error_of([] { make_zoo_model("vgg16", {.input = {3, 16, 16}}); }).empty());
}

TEST_CASE("published weights of each network expect one normalization, or there are none") {
  for (const std::string& name : zoo_names()) {
    INFO(name);
    const std::string normalize = zoo_normalization(name);
    CHECK((normalize.empty() || normalize == "none" || normalize == "imagenet" || normalize == "keras-tf" ||
           normalize == "keras-caffe"));
  }
  CHECK(zoo_normalization("resnet50") == "imagenet");
  CHECK(zoo_normalization("resnet152-keras") == "keras-caffe");
  CHECK(zoo_normalization("efficientnet-b0-keras") == "none");
  CHECK(zoo_normalization("tf-efficientnet-b0") == "imagenet");
  CHECK(zoo_normalization("mobilenet-v1") == "keras-tf");
  CHECK(zoo_normalization("lenet5").empty());
}

TEST_CASE("a training step is finite, of a residual network also in bf16") {
  check_step("mobilenet-v2", kMicroBatchOf2);  // recomputation_test has other families
  for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
    if (precision == Precision::kBfloat16 && !backend().native_bf16) continue;
    check_step("resnet18", {.micro_batch = 4, .precision = precision, .working_weights = true});
  }
}

// The blocks and the head of the zoo's networks.

namespace {

/// The parameters of the zoo model `name`, without running statistics.
struct Count {
  std::int64_t all, trained;
  std::int64_t frozen() const { return all - trained; }
};

Count with_frozen(const std::string& name, const std::string& pattern) {
  Graph graph = make_zoo_model(name);
  const std::int64_t all = graph.trainable_count();
  freeze(graph, resolve_parts(name, graph, {pattern}));
  return {all, graph.trainable_count()};
}

}  // namespace

TEST_CASE("the zoo's networks have as many blocks as their papers' tables") {
  const std::pair<std::size_t, std::vector<std::string>> known[] = {
      {0, {"nn-twins"}},
      {4, {"densenet121"}},
      {5, {"vgg11", "vgg19-bn", "alexnet"}},
      {8, {"resnet18", "squeezenet1.0"}},
      {9, {"resnet20"}},
      {11, {"mobilenet-v3-small", "inception-v3"}},
      {12, {"wide-resnet-28-10"}},
      {13, {"mobilenet-v1"}},
      {14, {"xception"}},
      {15, {"mobilenet-v3-large"}},
      {16,
       {"resnet50", "resnet50-keras", "efficientnet-b0", "efficientnet-b0-keras", "efficientnet-lite0",
        "shufflenet-v2"}},
      {17, {"mobilenet-v2"}},
      {18, {"convnext-tiny"}},
      {26, {"tf-efficientnet-b3"}},
      {27, {"resnet56"}},
      {30, {"efficientnet-lite4"}},
      {33, {"resnet101"}},
      {50, {"resnet152", "resnet152-keras"}},
      {55, {"efficientnet-b7", "efficientnet-b7-keras"}}};
  for (const auto& [blocks, names] : known) {
    for (const std::string& name : names) {
      INFO(name);
      CHECK(zoo_blocks(name, make_zoo_model(name)).size() == blocks);
    }
  }
}

TEST_CASE("every network of the zoo has a head") {
  for (const std::string& name : zoo_names()) {
    INFO(name);
    Graph graph = make_zoo_model(name);
    const std::size_t head = graph.find(zoo_head(name));
    freeze(graph, resolve_parts(name, graph, {"backbone"}));
    for (const Node& node : graph.nodes()) {
      if (!node.parameters.empty()) CHECK(node.options.trainable == (node.index >= head));
    }
  }
}

TEST_CASE("the frozen parts have as many parameters as torchvision's") {
  // n = lambda *ms: sum(p.numel() for m in ms for p in m.parameters())
  CHECK(with_frozen("resnet18", "blocks:4").frozen() == 683072);            // n(conv1, bn1, layer1, layer2)
  CHECK(with_frozen("mobilenet-v2", "blocks:3").frozen() == 15792);         // n(features[:4])
  CHECK(with_frozen("efficientnet-b0", "blocks:3").frozen() == 19090);      // n(features[:3])
  CHECK(with_frozen("convnext-tiny", "blocks:6").frozen() == 1235040);      // n(features[:4])
  CHECK(with_frozen("densenet121", "blocks:2").frozen() == 1297536);        // to denseblock2
  CHECK(with_frozen("vgg16", "blocks:2").frozen() == 260160);               // n(features[:10])
  CHECK(with_frozen("squeezenet1.1", "blocks:2").frozen() == 25632);        // n(features[:5])
  CHECK(with_frozen("shufflenet-v2", "blocks:4").frozen() == 30888);        // n(conv1, stage2)
  CHECK(with_frozen("mobilenet-v3-large", "backbone").trained == 2511080);  // n(classifier)
  CHECK(with_frozen("convnext-tiny", "backbone").trained == 770536);        // n(classifier)
  // 2048*1024+1024 + 1024*512+512 + 512*256+256, three batch norms of two each, 256*1000+1000
  CHECK(with_frozen("birds", "backbone").trained == 3014888);
}

TEST_CASE("nodes before a node; a network without a head is all backbone") {
  Graph graph = make_zoo_model("resnet18", {.input = {}, .classes = 10, .head = false});
  CHECK(resolve_parts("resnet18", graph, {"backbone", "conv1"}) == std::vector<std::string>{"*", "conv1"});
  CHECK(resolve_parts("resnet18", graph, {"blocks:8"}) == std::vector<std::string>{"*"});
  CHECK(resolve_parts("resnet18", graph, {"blocks:1"}) == std::vector<std::string>{"before:layer1.1.conv1"});
  CHECK(resolve_parts("", graph, {"backbone"}) == std::vector<std::string>{"backbone"});
  freeze(graph, std::vector<std::string>{"before:layer1.0.bn1"});
  CHECK(!graph.node(graph.find("layer1.0.conv1")).options.trainable);
  CHECK(graph.node(graph.find("layer1.0.bn1")).options.trainable);
  unfreeze(graph, std::vector<std::string>{"before:layer1.0.bn1"});
  CHECK(graph.trainable_count() == 11176512);  // torchvision's 11689512 without fc
}

TEST_CASE("blocks that do not exist are refused") {
  const Graph graph = make_zoo_model("resnet18");
  const auto refusal = [&](const std::string& zoo, const std::string& pattern) {
    return error_of([&] { resolve_parts(zoo, graph, {pattern}); });
  };
  CHECK(refusal("resnet18", "blocks:9") == "freeze: \"blocks:9\": resnet18 has only 8 blocks");
  CHECK(refusal("nn-twins", "blocks:1") == "freeze: \"blocks:1\": nn-twins has no blocks");
  CHECK(refusal("", "blocks:1") == "freeze: \"blocks:1\": only models of the zoo have blocks");
  for (const char* count : {"blocks:0", "blocks:x", "blocks:", "blocks:2b"}) {
    CHECK(refusal("resnet18", count) ==
          std::string("freeze: \"") + count + "\" needs a whole number of at least 1 after the colon");
  }
  Graph copy = graph;
  CHECK(error_of([&] { freeze(copy, std::vector<std::string>{"before:conv1"}); }) ==
        "freeze: no node before \"conv1\" has parameters");
  CHECK(error_of([&] { freeze(copy, std::vector<std::string>{"before:conv9"}); }) ==
        "no node is called \"conv9\" (did you mean \"conv1\"?)");
}
