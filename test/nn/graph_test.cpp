#include "convoke/nn/graph.hpp"

#include "around.hpp"
#include "convoke/nn/layers.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

Shape shape_of(Symbol x) { return x.graph->node(x.node).shape; }

}  // namespace

TEST_CASE("shapes of convolutions and poolings") {
  Graph graph({3, 28, 21});
  const Symbol x = input(graph);
  CHECK(shape_of(conv2d(x, {.filters = 8, .kernel = 3})) == Shape{8, 26, 19});
  CHECK(shape_of(conv2d(x, {.filters = 8, .kernel = 3, .padding = Padding::same()})) == Shape{8, 28, 21});
  CHECK(shape_of(conv2d(x, {.filters = 8, .kernel = 3, .stride = 2, .padding = Padding::same()})) ==
        Shape{8, 14, 11});
  CHECK(shape_of(
            conv2d(x, {.filters = 8, .kernel = {5, 1}, .stride = {2, 3}, .padding = Padding::by({2, 0})})) ==
        Shape{8, 14, 7});
  CHECK(shape_of(conv2d(x, {.filters = 8, .kernel = 3, .dilation = 2})) == Shape{8, 24, 17});
  CHECK(shape_of(max_pool(x)) == Shape{3, 14, 10});
  CHECK(shape_of(max_pool(x, {.size = 3, .stride = 2, .padding = Padding::same()})) == Shape{3, 14, 11});
  CHECK(shape_of(average_pool(x, {.size = {28, 21}})) == Shape{3, 1, 1});
  CHECK(shape_of(global_average_pool(x)) == Shape{3});
  CHECK(shape_of(flatten(x)) == Shape{3 * 28 * 21});
  CHECK(shape_of(dense(flatten(x), {.units = 7})) == Shape{7});
}

TEST_CASE("the error of a layer that does not fit names the layer, the shapes and a fix") {
  const Shape image{3, 8, 8}, vector{10};
  CHECK(refusal(vector, [](Symbol x) { conv2d(x, {.filters = 2}); }) ==
        "conv2d_1 (conv2d): needs images (N, C, H, W), but its input is (N, 10) | "
        "move it before the flatten or dense layer");
  CHECK(refusal(image, [](Symbol x) { max_pool(x, {.size = 9}); }) ==
        "max_pool_1 (max_pool): a window of 9 x 9 does not fit into its input (N, 3, 8, 8) | "
        "use padding = \"same\", a smaller window, or one pooling layer fewer before it");
  CHECK(refusal(image, [](Symbol x) { max_pool(x, {.size = 2, .padding = Padding::by(2)}); }) ==
        "max_pool_1 (max_pool): padding of 2 x 2 is not smaller than its window of 2 x 2 | "
        "use padding = \"same\" or less padding");
  CHECK(refusal(vector, [](Symbol x) { global_average_pool(x); }) ==
        "global_average_pool_1 (global_average_pool): needs images (N, C, H, W), but its input is (N, 10) | "
        "move it before the flatten or dense layer");
  CHECK(refusal({6, 8, 8}, [](Symbol x) { conv2d(x, {.filters = 8, .kernel = 3, .groups = 4}); }) ==
        "conv2d_1 (conv2d): 4 groups must divide both its 6 input channels and its 8 filters | "
        "choose groups that divide both");
}

TEST_CASE("inputs are images or vectors") {
  CHECK(Graph({3, 4}).input_shape().describe() == "(N, 3, 4)");
  CHECK(error_of([] {
          Graph graph({1, 2, 3, 4});
        }) == "a network's input must be (C, H, W), (L, F) or (F), not (1, 2, 3, 4)");
  CHECK(Graph(tokens(300)).input_shape().describe() == "(N, 300) of tokens");
  CHECK(error_of([] {
          Graph graph({Shape{3, 4}, ValueType::kToken});
        }) == "a network's input of tokens must be (L), not (3, 4)");
  CHECK(error_of([] {
          Graph graph({3, 0, 4});
        }) == "the extents of a network's input must be at least 1, not (3, 0, 4)");
}

TEST_CASE("nodes are named by layer and number; names are unique; a wrong name gets a suggestion") {
  Graph graph({4});
  Symbol x = dense(input(graph), {.units = 3});
  x = relu(x);
  x = dense(x, {.units = 2});
  CHECK(graph.node(1).name == "dense_1");
  CHECK(graph.node(3).name == "dense_2");
  CHECK(graph.find("relu_1") == 2);
  CHECK(error_of([&] {
          graph.find("dense_3");
        }).starts_with("no node is called \"dense_3\" (did you mean \"dense_"));
  CHECK(error_of([&] { graph.add(std::make_shared<Flatten>(), {x.node}, "relu_1"); }) ==
        "two nodes are called \"relu_1\"");
}

TEST_CASE("the summary has a line per node and the totals") {
  Graph graph({1, 4, 4});
  dense(flatten(batch_norm(conv2d(input(graph), {.filters = 8, .kernel = 3}))), {.units = 1000});
  CHECK(graph.summary() ==
        "node                     layer                output                   parameters  from\n"
        "input                                         (N, 1, 4, 4)                      0  \n"
        "conv2d_1                 conv2d               (N, 8, 2, 2)                     80  input\n"
        "batch_norm_1             batch_norm           (N, 8, 2, 2)                     32  conv2d_1\n"
        "flatten_1                flatten              (N, 32)                           0  batch_norm_1\n"
        "dense_1                  dense                (N, 1000)                    33,000  flatten_1\n"
        "total parameters: 33,112 (129.3 KiB)\n"
        "trainable parameters: 33,096 (129.3 KiB)\n"
        "non-trainable parameters: 16 (64 B)\n");
}
