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
  check_graph(around(channels, height, width, [&](Symbol x) { return conv2d(x, options); }), kMicroBatchOf3);
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
    check_graph(as_first(Shape{channels, 7, 6}, body), kMicroBatchOf3);
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
    check_graph(graph, kMicroBatchOf3);
  }
  for (const std::int64_t channels : {1, 3, 16, 20}) {
    check_graph(around(channels, 3, 4, [](Symbol x) { return dense(flatten(x), {.units = 9}); }),
                kMicroBatchOf3);
  }
  Graph plain({2, 3, 4});
  dense(flatten(input(plain)), {.units = 5});
  check_graph(plain, kMicroBatchOf3);
}

TEST_CASE("dense: so many weights that forward reads the layout of the data gradient") {
  Graph image(Shape{3, 32, 32});
  dense(relu(dense(flatten(conv2d(input(image), {.filters = 16, .kernel = 1})), {.units = 128})),
        {.units = 3});
  check_graph(image, kMicroBatchOf3);
  Graph vector(Shape{9});
  dense(dense(dense(input(vector), {.units = 1024}), {.units = 2048}), {.units = 3});
  check_graph(vector, kMicroBatchOf3);
}

TEST_CASE("max_pool: sizes, strides, overlap, padding, windows that do not cover the image") {
  for (const std::int64_t channels : {3, 16, 20}) {
    const auto check = [&](PoolOptions options, std::int64_t height, std::int64_t width) {
      check_graph(around(channels, height, width, [&](Symbol x) { return max_pool(x, options); }),
                  kMicroBatchOf3);
    };
    check({}, 6, 8);
    check({}, 5, 7);
    check({.size = 3}, 7, 8);
    check({.size = 3, .stride = 2}, 7, 8);
    check({.size = 3, .stride = 2, .padding = Padding::same()}, 6, 7);
    check({.size = 3, .stride = 2, .padding = Padding::by(1)}, 6, 7);
    check({.size = 2, .stride = 3}, 7, 9);
    check({.size = {1, 3}, .stride = {2, 1}}, 5, 6);
    check({.size = {4, 2}, .stride = 1, .padding = Padding::same()}, 4, 5);
    check({.size = 1}, 3, 3);
    check({.size = {6, 5}}, 6, 5);
  }
}

TEST_CASE("average_pool and global_average_pool") {
  for (const std::int64_t channels : {3, 16, 20}) {
    const auto check = [&](PoolOptions options, std::int64_t height, std::int64_t width) {
      check_graph(around(channels, height, width, [&](Symbol x) { return average_pool(x, options); }),
                  kMicroBatchOf3);
    };
    check({}, 6, 7);
    check({.size = 3, .stride = 2}, 7, 8);
    check({.size = 3, .stride = 2, .padding = Padding::same()}, 6, 7);
    check({.size = {3, 2}, .stride = 1, .padding = Padding::by({1, 0})}, 4, 5);
    check({.size = 2, .stride = 3}, 7, 9);
    check_graph(around(channels, 5, 4, [](Symbol x) { return global_average_pool(x); }), kMicroBatchOf3);
  }
  // No node before it needs a gradient.
  check_graph(as_first(Shape{3, 6, 5}, [](Symbol x) { return average_pool(x); }), kMicroBatchOf3);
}

TEST_CASE("batch_norm: on images, on vectors, as the first layer") {
  for (const std::int64_t channels : {1, 3, 16, 20, 32}) {
    check_graph(around(channels, 5, 3, [](Symbol x) { return batch_norm(x); }), kMicroBatchOf3);
    check_graph(around(channels, 3, 3, [](Symbol x) { return batch_norm(dense(flatten(x), {.units = 10})); }),
                kMicroBatchOf3);
    check_graph(as_first(Shape{channels, 4, 3}, [](Symbol x) { return batch_norm(x, {.epsilon = 0.1}); }),
                kMicroBatchOf3);
    check_graph(as_first(Shape{channels}, [](Symbol x) { return batch_norm(x); }), kMicroBatchOf3);
    check_graph(around(channels, 3, 4, [](Symbol x) { return batch_norm(flatten(x)); }), kMicroBatchOf3);
  }
}

TEST_CASE("activations on images and vectors") {
  for (const std::int64_t channels : {3, 16, 20}) {
    check_graph(around(channels, 3, 5, [](Symbol x) { return relu(sigmoid(x)); }), kMicroBatchOf3);
    check_graph(around(channels, 3, 5, [](Symbol x) { return tanh(max_pool(sigmoid(x))); }), kMicroBatchOf3);
    check_graph(around(channels, 3, 3, [](Symbol x) { return relu(tanh(dense(flatten(x), {.units = 7}))); }),
                kMicroBatchOf3);
  }
  check_graph(as_first(Shape{4, 3, 3}, [](Symbol x) { return relu(x); }), kMicroBatchOf3);
}

TEST_CASE("softmax in the middle and at the end") {
  const auto middle = [](Symbol x) { return softmax(dense(flatten(x), {.units = 6})); };
  check_graph(as_first(Shape{2, 3, 3}, middle), kMicroBatchOf3);
  Graph end({2, 3, 3});
  softmax(dense(flatten(conv2d(input(end), {.filters = 4, .kernel = 2})), {.units = 5}));
  check_graph(end, kMicroBatchOf3);
  Graph both({6});
  softmax(softmax(dense(input(both), {.units = 4})));
  check_graph(both, kMicroBatchOf3);
  check_graph(around(20, 2, 3, [](Symbol x) { return softmax(flatten(x)); }), kMicroBatchOf3);
}

TEST_CASE("softmax over the channels of images and the features of sequences") {
  for (const std::int64_t channels : {1, 3, 16, 20}) {
    const auto body = [](Symbol x) { return softmax(x); };
    check_graph(around(channels, 2, 3, body), kMicroBatchOf3);
    check_graph(around(channels, 1, 1, body), kMicroBatchOf2);
    check_graph(along(channels, 4, body), kMicroBatchOf3);
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
    check_graph(around(channels, 5, 3, [](Symbol x) { return dropout(x, 0.3); }), kMicroBatchOf3);
    check_graph(around(channels, 5, 3, [](Symbol x) { return dropout(flatten(x), 0.5); }), kMicroBatchOf3);
    check_graph(
        around(channels, 3, 3, [](Symbol x) { return dropout(dense(flatten(x), {.units = 70}), 0.2); }),
        kMicroBatchOf3);
    check_graph(around(channels, 3, 3, [](Symbol x) { return dropout(x, 0); }), kMicroBatchOf3);
    check_graph(around(channels, 3, 3, [](Symbol x) { return dropout(relu(flatten(x)), 0.2); }),
                kMicroBatchOf3);
  }
  check_graph(as_first(Shape{3, 4, 4}, [](Symbol x) { return dropout(x, 0.25); }), kMicroBatchOf3);
}

TEST_CASE("images of one pixel, batches of one sample") {
  for (const std::int64_t channels : {1, 3, 16, 20}) {
    const Graph graph = around(channels, 1, 1, [&](Symbol x) {
      x = relu(batch_norm(conv2d(x, {.filters = channels, .kernel = 3, .padding = Padding::same()})));
      return dropout(max_pool(x, {.size = 3, .padding = Padding::same()}), 0.2);
    });
    check_graph(graph, kMicroBatchOf3);
    check_graph(graph, {.micro_batch = 1});
    check_graph(around(channels, 1, 1, [](Symbol x) { return global_average_pool(tanh(x)); }),
                kMicroBatchOf3);
  }
}
