// The blocks and the head of the zoo's networks.
#include "convoke/nn/zoo_parts.hpp"

#include "convoke/nn/freeze.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/zoo.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

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
