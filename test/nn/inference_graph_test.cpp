// Which layers an inference graph keeps, and its outputs against the reference of the trained network.
#include "convoke/nn/inference_graph.hpp"

#include "around.hpp"
#include "convoke/nn/layers.hpp"
#include "convoke/nn/zoo.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

using NodeNames = std::vector<std::string>;

const Padding kKeepsSize = Padding::same();

/// CHECKs which nodes the inference graph leaves out and which of the others a plan with post-ops fuses into
/// their neighbors, and its outputs.
void check_folded(const Graph& graph, const NodeNames& left_out, const NodeNames& fused = {}) {
  const Graph folded = InferenceGraph(graph).graph();
  NodeNames missing;
  for (const Node& node : graph.nodes()) {
    if (!folded.has(node.name)) missing.push_back(node.name);
  }
  INFO(graph.summary());
  CHECK(missing == left_out);
  CHECK(absorbed(folded, true) == fused);
  const Batch batch(graph, 3);
  Experiment experiment(graph, {.micro_batch = 3, .training = false});
  const Outcome expected = reference_outcome(graph, experiment, batch);
  CHECK(difference(folded_outcome(graph, experiment, batch).output, expected.output) <= 1e-5);
}

/// CHECKs `body` behind a convolution of 16 or 20 channels.
template <class Body>
void check_folded_body(const Body& body, const NodeNames& left_out, const NodeNames& fused = {}) {
  for (const std::int64_t channels : {16, 20}) {
    Graph graph({2, 6, 7});
    const Symbol x =
        body(conv2d(input(graph), {.filters = channels, .kernel = 3, .padding = kKeepsSize}), channels);
    dense(graph.node(x.node).shape.rank() == 3 ? flatten(x) : x, {.units = 3});
    check_folded(graph, left_out, fused);
  }
}

Symbol three_by_three(Symbol x, std::int64_t filters) {
  return conv2d(x, {.filters = filters, .kernel = 3, .padding = kKeepsSize, .bias = false});
}
Symbol one_by_one(Symbol x, std::int64_t filters) { return conv2d(x, {.filters = filters, .kernel = 1}); }

}  // namespace

TEST_CASE("a batch norm is folded into every layer that is linear in its weights") {
  const NodeNames norm{"batch_norm_1"};
  check_folded_body([](Symbol x, auto) { return batch_norm(x); }, norm);
  check_folded_body([](Symbol x, auto) { return batch_norm(x, {.scale = false}); }, norm);
  check_folded_body([](Symbol x, auto) { return batch_norm(x, {.center = false}); }, norm);
  check_folded_body([](Symbol x, auto) { return batch_norm(x, {.epsilon = 0.1}); }, norm);
  check_folded_body([](Symbol x, auto c) { return batch_norm(three_by_three(x, c)); }, norm);
  check_folded_body(
      [](Symbol x, auto c) { return batch_norm(conv2d(x, {.filters = c, .kernel = 1, .groups = 2})); }, norm);
  check_folded_body([](Symbol x, auto) { return batch_norm(depthwise_conv2d(x)); }, norm);
  check_folded_body(
      [](Symbol x, auto) { return batch_norm(depthwise_conv2d(x, {.multiplier = 2, .bias = false})); }, norm);
  check_folded_body([](Symbol x, auto) { return batch_norm(separable_conv2d(x, {.filters = 8})); }, norm);
  check_folded_body(
      [](Symbol x, auto) { return batch_norm(conv2d_transpose(x, {.filters = 8, .bias = false})); }, norm);
  check_folded_body([](Symbol x, auto) { return batch_norm(dense(flatten(x), {.units = 5, .bias = false})); },
                    norm);
  Graph sequence({9, 4});
  flatten(batch_norm(conv1d(input(sequence), {.filters = 8, .kernel = 3})));
  check_folded(sequence, norm);
}

TEST_CASE("layers that only train are left out, also between a residual branch and its sum") {
  check_folded_body([](Symbol x, auto) { return dropout(dropout(x, 0.3), 0.1); }, {"dropout_1", "dropout_2"});
  check_folded_body(
      [](Symbol x, auto c) {
        const Symbol y = relu(x);
        return add(stochastic_depth(batch_norm(one_by_one(one_by_one(y, 8), c)), 0.2), y);
      },
      {"batch_norm_1", "stochastic_depth_1"}, {"relu_1", "add_1"});
}

TEST_CASE("a batch norm stays if something else reads its input or shares the weights") {
  check_folded_body([](Symbol x, auto) { return add(batch_norm(x), x); }, {});
  check_folded_body(
      [](Symbol x, auto c) {
        const Symbol y = one_by_one(x, c);
        return batch_norm(share(y, relu(y)));
      },
      {}, {"relu_1"});
  check_folded_body(
      [](Symbol x, auto c) {  // the norm is used twice
        const Symbol y = batch_norm(one_by_one(x, c));
        return relu(share(y, relu(y)));
      },
      {}, {"relu_1", "relu_2"});
  check_folded_body([](Symbol x, auto) { return one_by_one(batch_norm(max_pool(x)), 4); }, {});
}

TEST_CASE("post-ops: relu6, silu and hard_swish of every kind of convolution") {
  for (const auto f : {relu6, silu, hard_swish}) {
    const std::string name = f == relu6 ? "relu6_1" : f == silu ? "silu_1" : "hard_swish_1";
    check_folded_body([&](Symbol x, auto) { return f(x); }, {}, {name});
    check_folded_body([&](Symbol x, auto c) { return f(batch_norm(three_by_three(x, c))); }, {"batch_norm_1"},
                      {name});
    check_folded_body(
        [&](Symbol x, auto) { return f(depthwise_conv2d(x, {.kernel = 5, .padding = kKeepsSize})); }, {},
        {name});
    check_folded_body([&](Symbol x, auto) { return f(depthwise_conv2d(x, {.dilation = 2})); }, {}, {name});
    check_folded_body(
        [&](Symbol x, auto) { return f(depthwise_conv2d(x, {.stride = 2, .padding = kKeepsSize})); }, {},
        {name});
    check_folded_body([&](Symbol x, auto) { return f(separable_conv2d(x, {.filters = 9})); }, {}, {name});
  }
}

TEST_CASE("post-ops: a sum is computed in the memory of its other input") {
  check_folded_body(
      [](Symbol x, auto c) {
        const Symbol y = relu(x);
        return add(three_by_three(relu(one_by_one(y, 8)), c), y);
      },
      {}, {"relu_1", "relu_2", "add_1"});
  check_folded_body(
      [](Symbol x, auto c) {  // twice in the same memory
        const Symbol y = relu(x);
        const Symbol z = relu(add(y, three_by_three(one_by_one(y, 8), c)));
        return relu(add(one_by_one(one_by_one(z, 8), c), z));
      },
      {}, {"relu_1", "add_1", "relu_2", "add_2", "relu_3"});
  check_folded_body(
      [](Symbol x, auto) {  // the shortcut is a convolution, too
        const Symbol y = relu(x);
        return relu(add(one_by_one(three_by_three(y, 8), 12), one_by_one(y, 12)));
      },
      {}, {"relu_1", "add_1", "relu_2"});
  check_folded_body(
      [](Symbol x, auto c) {
        const Symbol y = relu(x);
        return add(depthwise_conv2d(one_by_one(y, c), {.padding = kKeepsSize}), y);
      },
      {}, {"relu_1", "add_1"});
}

TEST_CASE("post-ops: a value that is read later is not overwritten") {
  check_folded_body(
      [](Symbol x, auto c) {  // by another branch
        const Symbol y = relu(x);
        const Symbol z = add(one_by_one(y, c), y);
        return add(one_by_one(z, c), three_by_three(y, c));
      },
      {}, {"relu_1", "add_2"});
  check_folded_body(
      [](Symbol x, auto c) {  // through a view
        const Symbol y = relu(x);
        const Symbol view = flatten(y);
        const Symbol z = add(one_by_one(y, c), y);
        return add(dense(flatten(z), {.units = 4}), dense(view, {.units = 4}));
      },
      {}, {"relu_1"});
  check_folded_body(
      [](Symbol x, auto c) {  // by a later convolution that pads it
        const Symbol y = relu(x);
        const Symbol padded = zero_pad(y, 1);
        const Symbol z = add(one_by_one(y, c), y);
        return add(conv2d(padded, {.filters = c, .kernel = 3}), z);
      },
      {}, {"relu_1", "zero_pad_1", "add_2"});
  check_folded_body([](Symbol x, auto c) { return add(one_by_one(relu(x), c), one_by_one(relu(x), c)); }, {},
                    {"add_1"});
  check_folded_body([](Symbol x, auto) { return add(x, x); }, {});
  Graph of_input({4, 5, 6});  // the network's input belongs to the caller
  flatten(add(one_by_one(input(of_input), 4), input(of_input)));
  check_folded(of_input, {});
}

TEST_CASE("published networks: every batch norm behind a convolution and every residual sum disappears") {
  for (const char* name : {"resnet18", "resnet50", "mobilenet-v2", "efficientnet-b0"}) {
    const Graph graph = make_zoo_model(name, {.input = {3, 32, 32}, .classes = 10});
    const Graph folded = InferenceGraph(graph).graph();
    const std::vector<Fusion> fusions = fuse(folded, true);
    INFO(name);
    for (const Node& node : folded.nodes()) {
      if (node.layer == nullptr) continue;
      CHECK(node.layer->type() != "batch_norm");
      CHECK((node.layer->type() != "add" || fusions[node.index].absorbed));
    }
  }
}

TEST_CASE("an inference graph refuses a list of parameters of another size") {
  Graph graph({2});
  dense(input(graph), {.units = 3});
  CHECK_THROWS_WITH(InferenceGraph(graph).parameters(std::vector<float>(8)),
                    "the model has 9 parameters, but 8 values are given for them");
}
