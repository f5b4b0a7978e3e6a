// The decisions of fuse(), and fused plans against the unfused reference.
#include "around.hpp"
#include "convoke/nn/layers.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

Conv2dOptions same(std::int64_t filters) {
  Conv2dOptions options;
  options.filters = filters;
  options.padding = Padding::same();
  return options;
}

/// Checks widths around oneDNN's blocks of 16, and images of odd and even size.
template <class Body>
void check_body(const Body& body, const std::vector<std::string>& expected) {
  for (const std::int64_t channels : {3, 10, 16, 20}) {
    for (const Extent image : {Extent(5, 7), Extent(4, 5)}) {
      Graph graph({2, image.height, image.width});
      const Symbol x = body(conv2d(input(graph), same(channels)));
      dense(graph.node(x.node).shape.rank() == 3 ? flatten(x) : x, {.units = 3});
      INFO(graph.summary());
      CHECK(absorbed(graph) == expected);
      check_graph(graph);
    }
  }
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a ReLU is part of the layer with weights or the pooling before it, or of the pooling after it") {
  check_body([](Symbol x) { return conv2d(relu(x), same(9)); }, {"relu_1"});
  check_body([](Symbol x) { return max_pool(relu(x)); }, {"relu_1"});
  check_body([](Symbol x) { return max_pool(relu(x), {.size = 3, .stride = 2, .padding = Padding::same()}); },
             {"relu_1"});
  check_body([](Symbol x) { return relu(max_pool(relu(x))); }, {"relu_1"});
  check_body([](Symbol x) { return relu(max_pool(x)); }, {"relu_1"});
  check_body([](Symbol x) { return relu(max_pool(relu(max_pool(x)), {.size = 2, .stride = 1})); },
             {"relu_1", "relu_2"});
  check_body([](Symbol x) { return relu(dense(flatten(x), {.units = 11})); }, {"relu_1"});
  check_body([](Symbol x) { return relu(batch_norm(x)); }, {"relu_1"});
  check_body([](Symbol x) { return relu(batch_norm(dense(flatten(x), {.units = 20}))); }, {"relu_1"});
}

TEST_CASE("batch_norm + relu + max_pool in one pass if windows tile the image") {
  const Names both{"relu_1", "max_pool_1"};
  check_body([](Symbol x) { return max_pool(relu(batch_norm(x))); }, both);
  check_body([](Symbol x) { return max_pool(relu(batch_norm(x)), {.size = 3}); }, both);
  check_body([](Symbol x) { return max_pool(relu(batch_norm(x)), {.size = {1, 2}}); }, both);
  check_body([](Symbol x) { return max_pool(relu(batch_norm(x)), {.size = {4, 5}}); }, both);
  check_body([](Symbol x) { return max_pool(relu(batch_norm(x)), {.size = 1}); }, both);
  check_body([](Symbol x) { return conv2d(max_pool(relu(batch_norm(x))), same(4)); }, both);
  check_body([](Symbol x) { return max_pool(relu(batch_norm(x)), {.size = 3, .stride = 2}); }, {"relu_1"});
  check_body([](Symbol x) { return max_pool(relu(batch_norm(x)), {.padding = Padding::same()}); },
             {"relu_1"});
  check_body([](Symbol x) { return max_pool(batch_norm(x)); }, {});  // without ReLU two passes
}

TEST_CASE("conv2d + max_pool of the network's input in one pass, with ReLU between, after or absent") {
  const auto check = [](Extent image, std::int64_t channels, const Conv2dOptions& options, const auto& body,
                        const Names& expected) {
    Graph graph({channels, image.height, image.width});
    dense(flatten(body(conv2d(input(graph), options))), {.units = 3});
    CHECK(absorbed(graph) == expected);
    check_graph(graph);
  };
  const auto between = [](Symbol x) { return max_pool(relu(x)); };
  const auto after = [](Symbol x) { return relu(max_pool(x)); };
  const auto without = [](Symbol x) { return max_pool(x); };
  // some rows lie outside all windows
  for (const Extent image : {Extent(8, 6), Extent(7, 9), Extent(4, 4)}) {
    for (const std::int64_t channels : {1, 3, 4}) {
      check(image, channels, {.filters = 16}, between, {"relu_1", "max_pool_1"});
      check(image, channels, {.filters = 48}, after, {"max_pool_1", "relu_1"});
      check(image, channels, {.filters = 32, .bias = false}, without, {"max_pool_1"});
    }
  }
  const Extent image(8, 7);
  check(image, 1, {.filters = 16}, [&](Symbol x) { return conv2d(between(x), same(7)); },
        {"relu_1", "max_pool_1"});
  check(image, 1, {.filters = 16}, [&](Symbol x) { return relu(between(x)); }, {"relu_1", "max_pool_1"});
  // Cases that the kernel does not support remain two passes.
  check(image, 5, {.filters = 16}, between, {"relu_1"});
  check(image, 1, {.filters = 20}, between, {"relu_1"});
  check(image, 1, same(16), between, {"relu_1"});
  check(image, 1, {.filters = 16, .kernel = 2}, between, {"relu_1"});
  check(image, 1, {.filters = 16, .stride = 2}, between, {"relu_1"});
  check(image, 1, {.filters = 16, .dilation = 2}, between, {"relu_1"});
  check(image, 2, {.filters = 16, .groups = 2}, between, {"relu_1"});
  check(image, 1, {.filters = 16}, [](Symbol x) { return max_pool(relu(x), {.size = 3}); }, {"relu_1"});
  check(image, 1, {.filters = 16}, [](Symbol x) { return max_pool(relu(x), {.stride = 1}); }, {"relu_1"});
  check(image, 1, {.filters = 16}, [](Symbol x) { return max_pool(relu(x), {.padding = Padding::same()}); },
        {"relu_1"});
  check(image, 1, {.filters = 16}, [](Symbol x) { return add(flatten(max_pool(x)), flatten(max_pool(x))); },
        {});
}

TEST_CASE("a residual block: add + relu, one value with two readers") {
  check_body(
      [](Symbol x) {
        const std::int64_t channels = x.graph->node(x.node).shape[0];
        const Symbol entry = relu(batch_norm(x));
        Symbol y = relu(batch_norm(conv2d(entry, same(channels))));
        y = batch_norm(conv2d(y, same(channels)));
        return global_average_pool(relu(add(y, entry)));
      },
      {"relu_1", "relu_2", "relu_3"});
}

TEST_CASE("backward does not overwrite a value that a residual path reads") {
  check_body([](Symbol x) { return relu(add(x, conv2d(relu(x), same(x.graph->node(x.node).shape[0])))); },
             {"relu_2"});
  check_body([](Symbol x) { return max_pool(relu(add(x, sigmoid(x)))); }, {"relu_1"});
  check_body([](Symbol x) { return add(x, x); }, {});
}

TEST_CASE("add of three values, of values in different layouts, of a flattened image and a vector") {
  check_body(
      [](Symbol x) {
        Graph& graph = *x.graph;
        const Symbol a = tanh(x), b = sigmoid(x);
        const Symbol sum{&graph, graph.add(std::make_shared<Add>(), {x.node, a.node, b.node})};
        return relu(sum);
      },
      {"relu_1"});
  check_body(  // the network's input is plain; the output of a convolution usually is not
      [](Symbol x) {
        const Symbol plain = input(*x.graph);
        return add(plain, conv2d(x, same(2)));
      },
      {});
  check_body(  // a flattened image and a vector
      [](Symbol x) {
        const Symbol vector = flatten(x);
        return add(vector, dense(vector, {.units = x.graph->node(vector.node).shape[0]}));
      },
      {});
  check_body(
      [](Symbol x) {
        const Symbol vector = flatten(x);
        return relu(
            add(dense(vector, {.units = x.graph->node(vector.node).shape[0], .bias = false}), vector));
      },
      {"relu_1"});
}

TEST_CASE("a relu with two readers is computed once, by its producer or as a separate step") {
  check_body(
      [](Symbol x) {
        const Symbol y = relu(x);
        return add(conv2d(y, same(4)), conv2d(y, {.filters = 4, .kernel = 1}));
      },
      {"relu_1"});
  check_body(
      [](Symbol x) {  // max_pool is not the only reader, so the ReLU is not fused into it
        const Symbol y = relu(batch_norm(x));
        return add(flatten(global_average_pool(y)), global_average_pool(max_pool(y)));
      },
      {"relu_1"});
  check_body(
      [](Symbol x) {  // both x and relu(x) are read
        const Symbol y = relu(x);
        return add(max_pool(y), max_pool(x));
      },
      {});
  check_body(
      [](Symbol x) {  // the value before relu + max_pool has a second reader
        return add(max_pool(relu(x)), max_pool(x, {.size = 2}));
      },
      {});
}

TEST_CASE("a global average pooling, a flattened image read as a vector and as an image") {
  check_body(
      [](Symbol x) {
        x = dropout(global_average_pool(relu(batch_norm(x))), 0.3);
        return softmax(dense(x, {.units = 5}));
      },
      {"relu_1"});
  check_body(
      [](Symbol x) {
        const Symbol y = relu(x);
        return add(dense(flatten(y), {.units = 6}), dense(flatten(conv2d(y, same(3))), {.units = 6}));
      },
      {"relu_1"});
  check_body([](Symbol x) { return add(batch_norm(flatten(x)), flatten(x)); }, {});
}

TEST_CASE("the last node is an activation, a pooling or a flatten") {
  const auto check = [](auto head) {
    Graph graph({2, 4, 5});
    head(conv2d(input(graph), same(4)));
    check_graph(graph);
  };
  check([](Symbol x) { return relu(dense(flatten(x), {.units = 3})); });
  check([](Symbol x) { return global_average_pool(x); });
  check([](Symbol x) { return flatten(max_pool(relu(batch_norm(x)), {.size = {4, 5}})); });
  check([](Symbol x) { return softmax(flatten(relu(x))); });
  check([](Symbol x) { return softmax(relu(batch_norm(flatten(x)))); });
}
