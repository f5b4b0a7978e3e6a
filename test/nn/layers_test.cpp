// Every layer alone, between a convolution (to check its gradient) and a dense layer.
#include "around.hpp"
#include "experiment.hpp"
#include "golden.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

void check_conv2d(const Conv2dOptions& options, std::int64_t channels, std::int64_t height,
                  std::int64_t width) {
  check_graph(around(channels, height, width, [&](Symbol x) { return conv2d(x, options); }));
}

}  // namespace

TEST_CASE("conv2d: kernels, strides, paddings") {
  for (const std::int64_t channels : {3, 16, 20}) {
    const std::int64_t filters = channels + 2;
    check_conv2d({.filters = filters, .kernel = 3}, channels, 6, 7);
    check_conv2d({.filters = filters, .kernel = 3, .padding = Padding::same()}, channels, 5, 6);
    check_conv2d({.filters = filters, .kernel = 3, .stride = 2, .padding = Padding::same()}, channels, 6, 7);
    check_conv2d({.filters = filters, .kernel = 3, .stride = {2, 3}}, channels, 8, 9);
    check_conv2d({.filters = filters, .kernel = {2, 4}, .padding = Padding::same()}, channels, 5, 6);
    check_conv2d({.filters = filters, .kernel = {5, 1}, .padding = Padding::by({2, 0})}, channels, 4, 3);
    check_conv2d({.filters = filters, .kernel = {1, 5}, .stride = {1, 2}, .padding = Padding::by({0, 2})},
                 channels, 3, 7);
    check_conv2d({.filters = filters, .kernel = 1, .stride = 2}, channels, 5, 5);
    check_conv2d({.filters = filters, .kernel = 3, .padding = Padding::same(), .bias = false}, channels, 4,
                 4);
    // Other padding on each side.
    check_conv2d({.filters = 5, .kernel = 3, .stride = 2, .padding = Padding::by({0, 1}, {1, 2})}, channels,
                 5, 6);
    check_conv2d({.filters = 16, .kernel = 3, .padding = Padding::by({0, 0}, {2, 1})}, channels, 5, 6);
    check_conv2d({.filters = 20, .kernel = {2, 3}, .padding = Padding::by({1, 2}, {0, 0})}, channels, 5, 6);
  }
}

TEST_CASE("conv2d: dilation") {
  check_conv2d({.filters = 5, .kernel = 3, .dilation = 2}, 3, 8, 7);
  check_conv2d({.filters = 16, .kernel = 3, .padding = Padding::same(), .dilation = {2, 3}}, 16, 7, 8);
  check_conv2d({.filters = 20, .kernel = 2, .stride = 2, .padding = Padding::same(), .dilation = 2}, 20, 6,
               6);
}

TEST_CASE("conv2d: groups and depthwise") {
  check_conv2d({.filters = 8, .kernel = 3, .padding = Padding::same(), .groups = 2}, 4, 5, 5);
  check_conv2d({.filters = 6, .kernel = 3, .groups = 6}, 6, 6, 5);
  check_conv2d({.filters = 32, .kernel = 3, .padding = Padding::same(), .groups = 32}, 32, 5, 6);
  check_conv2d({.filters = 32, .kernel = 3, .stride = 2, .padding = Padding::same(), .groups = 2}, 32, 6, 6);
  check_conv2d({.filters = 12, .kernel = 3, .padding = Padding::same(), .groups = 3, .bias = false}, 6, 4, 5);
  check_conv2d({.filters = 20, .kernel = 3, .padding = Padding::same(), .groups = 20}, 20, 5, 5);
}

TEST_CASE("conv2d as the first layer, on one and several channels") {
  for (const std::int64_t channels : {1, 3, 5, 16, 20}) {
    const auto body = [](Symbol x) {
      return conv2d(x, {.filters = 20, .kernel = 3, .padding = Padding::same()});
    };
    check_graph(as_first(Shape{channels, 7, 6}, body));
  }
}

TEST_CASE("Winograd equals the direct convolution to rounding, in all passes") {
  Graph graph({3, 6, 7});
  Symbol x = conv2d(input(graph), {.filters = 16, .kernel = 3, .padding = Padding::same()});
  x = relu(conv2d(x, {.filters = 16, .kernel = 3, .padding = Padding::same()}));
  x = conv2d(x, {.filters = 20, .kernel = 3});
  dense(flatten(x), {.units = 4});
  for (const auto choice :
       {ConvolutionChoice::kDirect, ConvolutionChoice::kWinograd, ConvolutionChoice::kAuto}) {
    check_graph(graph, {.micro_batch = 3, .convolution = choice}, 1e-4);
  }
}

TEST_CASE("dense: on vectors, on images of any width, without bias") {
  for (const std::int64_t width : {1, 10, 16, 33}) {
    Graph graph({7});
    dense(dense(input(graph), {.units = width}), {.units = 4, .bias = width != 10});
    check_graph(graph);
  }
  for (const std::int64_t channels : {1, 3, 16, 20}) {
    check_graph(around(channels, 3, 4, [](Symbol x) { return dense(flatten(x), {.units = 9}); }));
  }
  Graph plain({2, 3, 4});
  dense(flatten(input(plain)), {.units = 5});
  check_graph(plain);
}

TEST_CASE("dense: so many weights that forward reads the layout of the data gradient") {
  Graph image(Shape{3, 32, 32});
  dense(relu(dense(flatten(conv2d(input(image), {.filters = 16, .kernel = 1})), {.units = 128})),
        {.units = 3});
  check_graph(image);
  Graph vector(Shape{9});
  dense(dense(dense(input(vector), {.units = 1024}), {.units = 2048}), {.units = 3});
  check_graph(vector);
}

TEST_CASE("activations on images and vectors") {
  for (const std::int64_t channels : {3, 16, 20}) {
    check_graph(around(channels, 3, 5, [](Symbol x) { return relu(sigmoid(x)); }));
    check_graph(around(channels, 3, 5, [](Symbol x) { return tanh(max_pool(sigmoid(x))); }));
    check_graph(around(channels, 3, 3, [](Symbol x) { return relu(tanh(dense(flatten(x), {.units = 7}))); }));
  }
  check_graph(as_first(Shape{4, 3, 3}, [](Symbol x) { return relu(x); }));
}

TEST_CASE("softmax in the middle and at the end") {
  const auto middle = [](Symbol x) { return softmax(dense(flatten(x), {.units = 6})); };
  check_graph(as_first(Shape{2, 3, 3}, middle));
  Graph end({2, 3, 3});
  softmax(dense(flatten(conv2d(input(end), {.filters = 4, .kernel = 2})), {.units = 5}));
  check_graph(end);
  Graph both({6});
  softmax(softmax(dense(input(both), {.units = 4})));
  check_graph(both);
  check_graph(around(20, 2, 3, [](Symbol x) { return softmax(flatten(x)); }));
}

TEST_CASE("softmax over the channels of images and the features of sequences") {
  for (const std::int64_t channels : {1, 3, 16, 20}) {
    const auto body = [](Symbol x) { return softmax(x); };
    check_graph(around(channels, 2, 3, body));
    check_graph(around(channels, 1, 1, body), kMicroBatchOf2);
    check_graph(along(channels, 4, body));
    check_bf16(around(channels, 2, 3, body), kMicroBatchOf2);
  }
  const auto between = [](Symbol x) { return conv2d(add(softmax(x), x), {.filters = 4, .kernel = 2}); };
  check_graph(around(5, 3, 4, between), kMicroBatchOf2);
}

TEST_CASE("softmax of an image and a sequence equals PyTorch's") {
  // torch.softmax(torch.tensor(fill(1, 3, 1, 2)), dim=1), torch.softmax(torch.tensor(fill(1, 2, 3)), dim=-1)
  Graph image({3, 1, 2}), sequence({2, 3});
  flatten(softmax(input(image)));
  flatten(softmax(input(sequence)));
  CHECK(difference(evaluate(image, golden_fill(6)),
                   {0.037241895, 0.12669294, 0.71869308, 0.04302435, 0.24406497, 0.83028275}) < 1e-6);
  CHECK(difference(evaluate(sequence, golden_fill(6)),
                   {0.040500723, 0.17791747, 0.78158182, 0.040500723, 0.17791747, 0.78158182}) < 1e-6);
}

TEST_CASE("a classifier may end in a softmax over a vector, not over the channels of an image") {
  Graph graph({2, 3, 3});
  softmax(conv2d(input(graph), {.filters = 4, .kernel = 1}));
  CHECK(error_of([&] { Experiment(graph, kMicroBatchOf2); }) ==
        "the network ends in softmax_1 with shape (N, 4, 3, 3), but a classifier must end in a vector of "
        "classes");
}

TEST_CASE("dropout on images and vectors") {
  for (const std::int64_t channels : {3, 16, 20}) {
    check_graph(around(channels, 5, 3, [](Symbol x) { return dropout(x, 0.3); }));
    check_graph(around(channels, 5, 3, [](Symbol x) { return dropout(flatten(x), 0.5); }));
    check_graph(
        around(channels, 3, 3, [](Symbol x) { return dropout(dense(flatten(x), {.units = 70}), 0.2); }));
    check_graph(around(channels, 3, 3, [](Symbol x) { return dropout(x, 0); }));
    check_graph(around(channels, 3, 3, [](Symbol x) { return dropout(relu(flatten(x)), 0.2); }));
  }
  check_graph(as_first(Shape{3, 4, 4}, [](Symbol x) { return dropout(x, 0.25); }));
}

TEST_CASE("images of one pixel, batches of one sample") {
  for (const std::int64_t channels : {1, 3, 16, 20}) {
    const Graph graph = around(channels, 1, 1, [&](Symbol x) {
      x = relu(batch_norm(conv2d(x, {.filters = channels, .kernel = 3, .padding = Padding::same()})));
      return dropout(max_pool(x, {.size = 3, .padding = Padding::same()}), 0.2);
    });
    check_graph(graph);
    check_graph(graph, {.micro_batch = 1});
    check_graph(around(channels, 1, 1, [](Symbol x) { return global_average_pool(tanh(x)); }));
  }
}
