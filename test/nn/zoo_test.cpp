// The classic families of the zoo: their sizes equal those of torchvision, Keras Applications and the papers.
#include "convoke/nn/zoo.hpp"

#include "convoke/nn/backend.hpp"
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

}  // namespace

TEST_CASE("classic networks have torchvision's parameters") {
  // with torch.device("meta"): sum(p.numel() for p in getattr(torchvision.models,
  // name)(weights=None).parameters())
  const Size sizes[] = {{"alexnet", 61100840},      {"resnet18", 11689512},     {"resnet34", 21797672},
                        {"resnet50", 25557032},     {"resnet101", 44549160},    {"resnet152", 60192808},
                        {"squeezenet1.0", 1248424}, {"squeezenet1.1", 1235496}, {"vgg11", 132863336},
                        {"vgg11-bn", 132868840},    {"vgg13", 133047848},       {"vgg13-bn", 133053736},
                        {"vgg16", 138357544},       {"vgg16-bn", 138365992},    {"vgg19", 143667240},
                        {"vgg19-bn", 143678248}};
  for (const Size& size : sizes) {
    INFO(size.name);
    const Graph graph = make_zoo_model(size.name);
    CHECK(graph.trainable_count() == size.parameters);
    CHECK(graph.output_shape() == Shape{1000});
  }
}

TEST_CASE("classic networks have the parameters of Keras and of the papers") {
  // keras.applications.ResNet50(weights=None).count_params()
  CHECK(make_zoo_model("resnet50-keras").parameter_count() == 25636712);
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

TEST_CASE("a step of a residual network is finite, in fp32 and bf16") {
  const Graph graph = make_zoo_model("resnet18", {.input = {3, 32, 32}, .classes = 10});
  for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
    if (precision == Precision::kBfloat16 && !backend().native_bf16) continue;
    Experiment experiment(graph, {.micro_batch = 4, .precision = precision, .working_weights = true});
    const Outcome outcome = experiment.run(Batch(graph, 4));
    CHECK(std::isfinite(outcome.loss));
    for (const auto& [name, values] : outcome.gradients) {
      INFO(name);
      CHECK(std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }));
    }
  }
}
