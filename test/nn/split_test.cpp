// A network that is split after its frozen backbone.
#include "convoke/nn/split.hpp"

#include "convoke/nn/freeze.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/nn/zoo_parts.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

/// Returns the node after which the zoo model `name` is split when `patterns` are frozen.
std::string cut(const std::string& name, const std::vector<std::string>& patterns) {
  Graph graph = make_zoo_model(name);
  freeze(graph, resolve_parts(name, graph, patterns));
  return graph.node(frozen_prefix(graph)).name;
}

}  // namespace

TEST_CASE("a network is split after its frozen nodes, where a single value connects both parts") {
  CHECK(cut("resnet18", {"backbone"}) == "global_average_pool_1");
  CHECK(cut("resnet18", {"blocks:3"}) == "relu_7");  // stem 1, two in each block
  // The input of a block bypasses the frozen convolution within it.
  CHECK(cut("resnet18", {"blocks:3", "layer2.1.conv1"}) == "relu_7");
  CHECK(cut("mobilenet-v2", {"backbone"}) == "global_average_pool_1");  // before the dropout
  CHECK(cut("vgg16", {"backbone"}) == "flatten_1");
  CHECK(cut("resnet18", {"layer1.*"}) == "input");
  // Stochastic depth among frozen nodes is off; after a trained block it draws random numbers.
  CHECK(cut("efficientnet-b0", {"backbone"}) == "global_average_pool_17");
  CHECK(cut("convnext-tiny", {"backbone"}) == "global_average_pool_1");
  CHECK(cut("efficientnet-b0", {"blocks:3"}) == "add_1");
}

TEST_CASE(
    "a node that a later node shares is not split off; a frozen recurrent layer draws no random numbers") {
  const auto tied = [](bool frozen) {
    Graph graph(Shape{6});
    const Symbol a = dense(input(graph), {.units = 6});
    const Symbol b = dense(a, {.units = 6});
    dense(share(a, b), {.units = 2});
    freeze(graph, std::vector<std::string>{"dense_1"});
    if (frozen) freeze(graph, std::vector<std::string>{"dense_2"});
    return graph.node(frozen_prefix(graph)).name;
  };
  CHECK(tied(false) == "input");
  CHECK(tied(true) == "dense_3");  // the second use, which is frozen with the first
  for (const double rate : {0.0, 0.2}) {
    Graph graph = build_graph(Shape{5, 3}, {{{"layer", "lstm"}, {"units", 4}, {"dropout", rate}},
                                            {{"layer", "dense"}, {"units", 2}}});
    freeze(graph, std::vector<std::string>{"lstm_1"});
    CHECK(graph.node(frozen_prefix(graph)).name == "lstm_1");  // while frozen it drops nothing
    CHECK(first_not_fixed(graph) == "dense_1");
  }
}

TEST_CASE("both parts together have all parameters, and every node keeps its number") {
  Graph graph = make_zoo_model("mobilenet-v3-small", {.input = {}, .classes = 7});
  freeze(graph, resolve_parts("mobilenet-v3-small", graph, {"blocks:6"}));
  const std::size_t last = frozen_prefix(graph);
  const Graph prefix = prefix_of(graph, last), suffix = suffix_of(graph, last);
  CHECK(prefix.parameter_count() + suffix.parameter_count() == graph.parameter_count());
  CHECK(prefix.trainable_count() == 0);
  CHECK(suffix.trainable_count() == graph.trainable_count());
  CHECK(prefix.output_shape() == suffix.input_shape());
  CHECK(suffix.output_shape() == Shape{7});
  for (const Node& node : graph.nodes()) CHECK(suffix.find(node.name) == node.index);
}

TEST_CASE("both parts of EfficientNet train the head bit for bit as the whole network does") {
  Graph graph = make_zoo_model("efficientnet-b0", {.input = {3, 32, 32}, .classes = 4});
  freeze(graph, resolve_parts("efficientnet-b0", graph, {"backbone"}));
  const std::size_t last = frozen_prefix(graph);
  Experiment whole(graph, {.micro_batch = 4});
  Experiment prefix(prefix_of(graph, last), {.micro_batch = 4, .training = false});
  Experiment suffix(suffix_of(graph, last), {.micro_batch = 4});
  for (Experiment* part : {&prefix, &suffix}) copy_parameters(whole, *part);
  const Batch batch(graph, 4);
  Batch features = batch;
  const std::vector<double> output = prefix.run(batch).output;
  features.input.assign(output.begin(), output.end());
  const Outcome expected = whole.run(batch), found = suffix.run(features);
  CHECK(found.output == expected.output);
  CHECK(found.loss == expected.loss);
  CHECK(found.gradients == expected.gradients);
  CHECK(found.gradients.size() == 2);
}
