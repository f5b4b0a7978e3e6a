// conv1d, depthwise_conv2d, separable_conv2d, conv2d_transpose, the paddings of all windows, and the
// algorithms.
#include "around.hpp"
#include "golden.hpp"
#include "nn/plan/weight_form.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

/// Returns options for a slow reference: wide layers run one sample, or several in bf16.
PlanOptions micro_batch_for(std::int64_t channels) { return {.micro_batch = channels < 16 ? 2 : 1}; }

}  // namespace

TEST_CASE("conv1d: kernels, strides, paddings, dilation, groups") {
  for (const std::int64_t features : {3, 16, 20}) {
    const auto check = [&](Conv1dOptions options, std::int64_t length) {
      check_graph(along(features, length, [&](Symbol x) { return conv1d(x, options); }),
                  micro_batch_for(features));
    };
    check({.filters = 5, .kernel = 3}, 7);
    check({.filters = 16, .kernel = 4, .stride = 2, .padding = Padding::same()}, 7);
    check({.filters = 3, .kernel = 3, .padding = Padding::causal(), .dilation = 2, .bias = false}, 6);
    check({.filters = 4, .kernel = 2, .stride = 3, .padding = Padding::by({0, 1}, {0, 2})}, 5);
    check({.filters = 2 * features, .kernel = 3, .padding = Padding::same(), .groups = features}, 5);
  }
  for (const std::int64_t features : {1, 3, 16}) {
    const auto body = [](Symbol x) {
      return relu(conv1d(x, {.filters = 5, .kernel = 3, .padding = Padding::causal()}));
    };
    check_graph(as_first({6, features}, body), kMicroBatchOf2);
  }
  check_bf16(along(16, 9, [](Symbol x) { return tanh(conv1d(x, {.filters = 20, .kernel = 3})); }),
             {.micro_batch = 2});
}

TEST_CASE("depthwise_conv2d: kernels, strides, multipliers") {
  for (const std::int64_t channels : {3, 16, 20}) {
    const auto check = [&](DepthwiseConv2dOptions options) {
      check_graph(around(channels, 4, 3, [&](Symbol x) { return depthwise_conv2d(x, options); }),
                  micro_batch_for(channels));
    };
    check({.padding = Padding::same()});
    check({.kernel = {3, 2}, .stride = 2, .padding = Padding::by({0, 1}, {1, 1}), .bias = false});
    check({.kernel = 2, .dilation = {2, 1}, .multiplier = channels == 16 ? 1 : 2});
    check_graph(around(channels, 4, 3, [](Symbol x) { return relu(depthwise_conv2d(x, {.kernel = 2})); }),
                micro_batch_for(channels));
  }
  for (const std::int64_t channels : {1, 3, 16}) {
    check_graph(as_first({channels, 4, 5}, [](Symbol x) { return depthwise_conv2d(x, {.multiplier = 2}); }),
                kMicroBatchOf2);
  }
  // oneDNN has no fast gradient for these kernels in blocked layouts.
  const auto wide = [](Symbol x) { return depthwise_conv2d(x, {.kernel = 5, .padding = Padding::same()}); };
  const auto dilated = [](Symbol x) {
    return depthwise_conv2d(x, {.padding = Padding::same(), .dilation = 2});
  };
  check_graph(around(3, 5, 4, wide), kMicroBatchOf2);
  check_graph(around(16, 5, 4, dilated), {.micro_batch = 1});
  const auto unbiased = [](Symbol x) {
    return depthwise_conv2d(x, {.kernel = 5, .stride = 2, .padding = Padding::same(), .bias = false});
  };
  check_graph(around(20, 5, 4, unbiased), {.micro_batch = 1});
  check_bf16(around(16, 5, 4, wide), kMicroBatchOf2);
  check_bf16(around(16, 5, 4, [](Symbol x) { return tanh(depthwise_conv2d(x)); }), {.micro_batch = 2});
  check_bf16(around(20, 5, 4, [](Symbol x) { return depthwise_conv2d(x, {.multiplier = 2}); }),
             {.micro_batch = 2});
}

TEST_CASE("separable_conv2d: depthwise, then pointwise") {
  for (const std::int64_t channels : {3, 16, 20}) {
    const auto check = [&](SeparableConv2dOptions options) {
      check_graph(around(channels, 4, 5, [&](Symbol x) { return relu(separable_conv2d(x, options)); }),
                  micro_batch_for(channels));
    };
    check({.filters = 5, .padding = Padding::same()});
    check({.filters = 4, .kernel = {2, 3}, .stride = 2, .multiplier = channels == 3 ? 2 : 1, .bias = false});
  }
  check_graph(as_first({3, 5, 4}, [](Symbol x) { return separable_conv2d(x, {.filters = 16}); }),
              kMicroBatchOf2);
  check_bf16(around(16, 5, 4, [](Symbol x) { return tanh(separable_conv2d(x, {.filters = 20})); }),
             {.micro_batch = 2});
}

TEST_CASE("conv2d_transpose: strides, paddings, output_padding, dilation, groups") {
  for (const std::int64_t channels : {3, 16, 20}) {
    const auto check = [&](Conv2dTransposeOptions options) {
      check_graph(around(channels, 3, 2, [&](Symbol x) { return conv2d_transpose(x, options); }),
                  micro_batch_for(channels));
    };
    check({.filters = 5, .kernel = 3, .stride = 2, .padding = Padding::same()});
    check({.filters = 4, .kernel = 2, .stride = 2, .bias = false});
    check({.filters = 3, .kernel = {2, 3}, .stride = {3, 1}});
    check({.filters = 4, .kernel = 3, .stride = 2, .padding = Padding::by(1), .output_padding = 1});
    check({.filters = 2, .kernel = 3, .stride = 2, .padding = Padding::by({0, 1}, {1, 2})});
    check({.filters = channels, .kernel = 2, .dilation = 2, .groups = channels == 3 ? 3 : channels / 4});
  }
  const auto body = [](Symbol x) {
    return relu(conv2d_transpose(x, {.filters = 5, .kernel = 3, .stride = 2, .padding = Padding::same()}));
  };
  for (const std::int64_t channels : {1, 3, 16})
    check_graph(as_first({channels, 2, 3}, body), kMicroBatchOf2);
  check_bf16(
      around(16, 4, 5,
             [](Symbol x) { return tanh(conv2d_transpose(x, {.filters = 20, .kernel = 3, .stride = 2})); }),
      {.micro_batch = 2});
}

// import numpy as np, torch, torch.nn.functional as F
// from keras import layers as L                       # Keras 3 on TensorFlow
// def ramp(*shape): return ((np.arange(np.prod(shape)) * 7 % 11 - 5) / 4).astype("float32").reshape(shape)
// Our weights are canonical, (O, I, ...); each test shows the conversion to Keras or PyTorch. Results have
// channels first.
using Golden = std::vector<double>;

TEST_CASE("conv1d equals Keras'") {
  // l = L.Conv1D(2, 3, strides=s, padding=p, dilation_rate=d); l.build((1, 6, 2))
  // l.set_weights([ramp(2, 2, 3).transpose(2, 1, 0), np.array([.5, -.5])]); l(ramp(1, 6, 2))
  const auto run = [](Padding padding, std::int64_t stride, std::int64_t dilation) {
    Graph graph({6, 2});
    flatten(conv1d(input(graph),
                   {.filters = 2, .kernel = 3, .stride = stride, .padding = padding, .dilation = dilation}));
    return output_for_ramp(graph, {{"conv1d_1.weight", ramp(12)}, {"conv1d_1.bias", {.5, -.5}}});
  };
  CHECK(run(Padding::causal(), 2, 1) == Golden{0.75, 0.125, 3.1875, -1, -0.3125, -0.75});
  CHECK(run(Padding::same(), 2, 1) == Golden{3.1875, -1, -0.3125, -0.75, 2.25, -0.625});
  CHECK(run(Padding::causal(), 1, 2) ==
        Golden{0.75, 0.125, -0.1875, -1.5625, 0.4375, 0.0625, 0.0625, -1.8125, 2.5625, -1.125, 4.25, 1.75});
  CHECK(run(Padding::valid(), 1, 2) == Golden{2.5625, -1.125, 4.25, 1.75});
}

TEST_CASE("conv2d with padding on four sides equals PyTorch's") {
  // F.conv2d(F.pad(ramp(1, 2, 4, 5), (1, 2, 0, 1)), ramp(1, 2, 3, 3), stride=2)
  Graph graph({2, 4, 5});
  flatten(conv2d(
      input(graph),
      {.filters = 1, .kernel = 3, .stride = 2, .padding = Padding::by({0, 1}, {1, 2}), .bias = false}));
  CHECK(output_for_ramp(graph, {{"conv2d_1.weight", ramp(18)}}) ==
        Golden{0.75, 0.125, -2.6875, 2.25, 3.125, -0.9375});
}

TEST_CASE("depthwise_conv2d orders its outputs as Keras and PyTorch do") {
  // l = L.DepthwiseConv2D(3, strides=2, padding="same", depth_multiplier=2); l.build((1, 4, 5, 2))
  // l.set_weights([ramp(2, 2, 3, 3).transpose(2, 3, 0, 1), np.array([0, .5, -.5, 1])])
  // l(ramp(1, 2, 4, 5).transpose(0, 2, 3, 1)).numpy().transpose(0, 3, 1, 2)
  Graph graph({2, 4, 5});
  flatten(depthwise_conv2d(input(graph), {.stride = 2, .padding = Padding::same(), .multiplier = 2}));
  CHECK(output_for_ramp(
            graph, {{"depthwise_conv2d_1.weight", ramp(36)}, {"depthwise_conv2d_1.bias", {0, .5, -.5, 1}}}) ==
        Golden{-0.5625, -0.25,   -3,      1.125,   1.375,   1,       0.75,    -2.5,
               -0.5625, 1.0625,  -0.8125, 0.3125,  -3.9375, 1.5,     1,       2.3125,
               -2.1875, -2.0625, 1.75,    -1.5625, 0.9375,  -0.6875, -0.6875, 3.9375});
}

TEST_CASE("separable_conv2d equals Keras'") {
  // l = L.SeparableConv2D(3, 3, strides=2, padding="same", depth_multiplier=2); l.build((1, 4, 5, 2))
  // l.set_weights([ramp(2, 2, 3, 3).transpose(2, 3, 0, 1), ramp(3, 4, 1, 1).transpose(2, 3, 1, 0),
  //                np.array([0, .5, -.5])])
  Graph graph({2, 4, 5});
  flatten(separable_conv2d(input(graph),
                           {.filters = 3, .stride = 2, .padding = Padding::same(), .multiplier = 2}));
  const auto y = output_for_ramp(graph, {{"separable_conv2d_1.depthwise_weight", ramp(36)},
                                         {"separable_conv2d_1.pointwise_weight", ramp(12)},
                                         {"separable_conv2d_1.bias", {0, .5, -.5}}});
  // Printed to six digits.
  CHECK(difference(y, Golden{3.48438, -5.39062, 2.39062, -4.64062, -3.64062, 3.10938, -3.26562, 4.6875,
                             2.04688, 3.17188, 0.140625, -0.671875, 0.171875, 0.203125, 1.40625, 0.203125,
                             -0.328125, -4.92188}) < 1e-5);
}

TEST_CASE("conv2d_transpose equals Keras'") {
  // l = L.Conv2DTranspose(2, k, strides=s, padding=p, output_padding=o); l.build((1, 2, 3, 2))
  // l.set_weights([ramp(2, 2, k, k).transpose(2, 3, 0, 1), np.array([.5, -.5])])
  // l(ramp(1, 2, 2, 3).transpose(0, 2, 3, 1)).numpy().transpose(0, 3, 1, 2)
  const auto run = [](std::int64_t kernel, std::int64_t stride, Padding padding,
                      std::optional<Extent> extra) {
    Graph graph({2, 2, 3});
    flatten(conv2d_transpose(
        input(graph),
        {.filters = 2, .kernel = kernel, .stride = stride, .padding = padding, .output_padding = extra}));
    return output_for_ramp(graph, {{"conv2d_transpose_1.weight", ramp(4 * kernel * kernel)},
                                   {"conv2d_transpose_1.bias", {.5, -.5}}});
  };
  const auto none = std::nullopt;
  CHECK(run(3, 2, Padding::same(), none) ==
        Golden{2.8125,  -0.375, -0.75,   0.75,   0.125,  0.5,    -0.5625, -0.3125, 3.3125,  0.625,
               -1,      0.875,  -1.5,    0.1875, 1.1875, 0.6875, -0.5625, 1.1875,  2.4375,  0.4375,
               0.6875,  0.6875, -1.5625, 0.9375, -1.25,  1.75,   -1.4375, -1,      0.625,   -1,
               -1.1875, 1.8125, -1.5,    -1.125, 0.875,  -0.625, -1.6875, -2.0625, -0.4375, -0.375,
               2.25,    -2.125, -1.5625, -1.5,   0.125,  -1,     1.125,   -0.5});
  CHECK(run(3, 2, Padding::valid(), none) ==
        Golden{2.8125,  -0.375,  -0.75,   0.75,    0.125,  0.5,     2,       -0.5625, -0.3125, 3.3125,
               0.625,   -1,      0.875,   -0.375,  -1.5,   0.1875,  1.1875,  0.6875,  -0.5625, 1.1875,
               1.9375,  2.4375,  0.4375,  0.6875,  0.6875, -1.5625, 0.9375,  -0.5,    1.9375,  -0.0625,
               0.1875,  0.6875,  -1.0625, 1.4375,  0,      -1.25,   1.75,    -1.4375, -1,      0.625,
               -1,      -0.875,  -1.1875, 1.8125,  -1.5,   -1.125,  0.875,   -0.625,  -0.5,    -1.6875,
               -2.0625, -0.4375, -0.375,  2.25,    -2.125, -0.6875, -1.5625, -1.5,    0.125,   -1,
               1.125,   -0.5,    -0.5625, -2.0625, 1.4375, -0.375,  -0.3125, 1.625,   -2.0625, -0.0625});
  CHECK(run(2, 3, Padding::valid(), none) ==
        Golden{2.3125, -0.875,  0.5,  -0.125, 0.75,    0.5,  0.875,  1,       0.5,  2.125,  -1.0625, 0.5,
               0.25,   1.125,   0.5,  -0.25,  -0.125,  0.5,  0.5,    0.5,     0.5,  0.5,    0.5,     0.5,
               0.5,    0.5,     0.5,  -0.875, 0.5625,  0.5,  0.125,  0.8125,  0.5,  1.125,  1.0625,  0.5,
               0.625,  2.0625,  0.5,  0.125,  0.8125,  0.5,  -0.375, -0.4375, 0.5,  0.5,    0.5,     0.5,
               0.5,    0.5,     0.5,  0.5,    0.5,     0.5,  1.25,   -1.9375, -0.5, -1,     -0.125,  -0.5,
               -0.5,   -0.375,  -0.5, 1.0625, 1.3125,  -0.5, -0.625, -1.125,  -0.5, -1.625, -0.125,  -0.5,
               -0.5,   -0.5,    -0.5, -0.5,   -0.5,    -0.5, -0.5,   -0.5,    -0.5, -1.375, 0.0625,  -0.5,
               -0.875, -0.1875, -0.5, -0.375, -0.4375, -0.5, 0.125,  -1.875,  -0.5, -0.875, -0.875,  -0.5,
               -1.875, 0.125,   -0.5, -0.5,   -0.5,    -0.5, -0.5,   -0.5,    -0.5, -0.5,   -0.5,    -0.5});
  CHECK(run(3, 2, Padding::same(), 0) ==
        Golden{-0.3125, 3.3125,  0.625,  -1,      0.875,  0.1875, 1.1875, 0.6875, -0.5625, 1.1875,
               0.4375,  0.6875,  0.6875, -1.5625, 0.9375, 1.8125, -1.5,   -1.125, 0.875,   -0.625,
               -2.0625, -0.4375, -0.375, 2.25,    -2.125, -1.5,   0.125,  -1,     1.125,   -0.5});
  CHECK(run(3, 2, Padding::valid(), 1) ==
        Golden{2.8125,  -0.375,  -0.75,  0.75,    0.125,   0.5,    2,       0.5,    -0.5625, -0.3125, 3.3125,
               0.625,   -1,      0.875,  -0.375,  0.5,     -1.5,   0.1875,  1.1875, 0.6875,  -0.5625, 1.1875,
               1.9375,  0.5,     2.4375, 0.4375,  0.6875,  0.6875, -1.5625, 0.9375, -0.5,    0.5,     1.9375,
               -0.0625, 0.1875,  0.6875, -1.0625, 1.4375,  0,      0.5,     0.5,    0.5,     0.5,     0.5,
               0.5,     0.5,     0.5,    0.5,     -1.25,   1.75,   -1.4375, -1,     0.625,   -1,      -0.875,
               -0.5,    -1.1875, 1.8125, -1.5,    -1.125,  0.875,  -0.625,  -0.5,   -0.5,    -1.6875, -2.0625,
               -0.4375, -0.375,  2.25,   -2.125,  -0.6875, -0.5,   -1.5625, -1.5,   0.125,   -1,      1.125,
               -0.5,    -0.5625, -0.5,   -2.0625, 1.4375,  -0.375, -0.3125, 1.625,  -2.0625, -0.0625, -0.5,
               -0.5,    -0.5,    -0.5,   -0.5,    -0.5,    -0.5,   -0.5,    -0.5});
  // "same" equals no padding where both have the same result.
  CHECK(run(2, 3, Padding::same(), none) == run(2, 3, Padding::valid(), none));
  CHECK(run(3, 2, Padding::same(), 1) == run(3, 2, Padding::same(), none));
}

TEST_CASE("conv2d_transpose equals PyTorch's") {
  // F.conv_transpose2d(ramp(1, 2, 2, 3), ramp(2, 2, 3, 3).transpose(0, 1), torch.tensor([.5, -.5]), stride=2,
  //                    padding=1, output_padding=1)
  Graph graph({2, 2, 3});
  flatten(conv2d_transpose(
      input(graph),
      {.filters = 2, .kernel = 3, .stride = 2, .padding = Padding::by(1), .output_padding = 1}));
  CHECK(output_for_ramp(graph,
                        {{"conv2d_transpose_1.weight", ramp(36)}, {"conv2d_transpose_1.bias", {.5, -.5}}}) ==
        Golden{-0.3125, 3.3125,  0.625,  -1,     0.875,   -0.375,  0.1875,  1.1875, 0.6875,  -0.5625,
               1.1875,  1.9375,  0.4375, 0.6875, 0.6875,  -1.5625, 0.9375,  -0.5,   -0.0625, 0.1875,
               0.6875,  -1.0625, 1.4375, 0,      1.8125,  -1.5,    -1.125,  0.875,  -0.625,  -0.5,
               -2.0625, -0.4375, -0.375, 2.25,   -2.125,  -0.6875, -1.5,    0.125,  -1,      1.125,
               -0.5,    -0.5625, 1.4375, -0.375, -0.3125, 1.625,   -2.0625, -0.0625});
  // w = ramp(4, 1, 2, 2).reshape(2, 2, 1, 2, 2).transpose(1, 2).reshape(2, 2, 2, 2)   # (C, O / groups, h, w)
  // F.conv_transpose2d(ramp(1, 2, 2, 3), w, None, stride=2, groups=2, dilation=2)
  Graph groups({2, 2, 3});
  flatten(conv2d_transpose(
      input(groups), {.filters = 4, .kernel = 2, .stride = 2, .dilation = 2, .groups = 2, .bias = false}));
  CHECK(output_for_ramp(groups, {{"conv2d_transpose_1.weight", ramp(16)}}) ==
        Golden{1.5625,  0, -1.25,   0, 0.875,  0, -0.25,   0,       0, 0,      0, 0,      0, 0,
               -0.9375, 0, -1.5,    0, 1.9375, 0, -1,      0,       0, 0,      0, 0,      0, 0,
               -0.625,  0, 1.4375,  0, 0.6875, 0, -0.9375, -0.3125, 0, 1.0625, 0, -0.5,   0, 0.375,
               0,       0, 0,       0, 0,      0, 0,       -0.9375, 0, -0.375, 0, -0.875, 0, 0.5625,
               0,       0, 0,       0, 0,      0, 0,       1.25,    0, 0.25,   0, -0.75,  0, 0,
               -1,      0, 0.75,    0, 1,      0, -0.75,   0,       0, 0,      0, 0,      0, 0,
               -1,      0, -0.4375, 0, 1.3125, 0, 0.3125,  0,       0, 0,      0, 0,      0, 0,
               -0.1875, 0, -0.875,  0, 0.625,  0, 1.5625,  0.5,     0, -0.5,   0, -0.5,   0, 0.5,
               0,       0, 0,       0, 0,      0, 0,       1.625,   0, -0.25,  0, -1.75,  0, 0.375,
               0,       0, 0,       0, 0,      0, 0,       0.9375,  0, -0.125, 0, -1.625, 0, -0.3125});
}

TEST_CASE("inputs that do not fit are refused with both shapes and a hint") {
  CHECK(error_on({3, 8, 8}, [](Symbol x) { conv1d(x, {.filters = 2}); }) ==
        "conv1d_1 (conv1d): needs sequences (N, L, F), but its input is (N, 3, 8, 8)");
  CHECK(error_on({4, 3}, [](Symbol x) { conv1d(x, {.filters = 2, .kernel = 3, .dilation = 2}); }) ==
        "conv1d_1 (conv1d): a window of 5 does not fit into its input (N, 4, 3)");
  CHECK(
      error_on({4, 3}, [](Symbol x) { conv1d(x, {.filters = 2, .groups = 2}); }) ==
      "conv1d_1 (conv1d): 2 groups must divide both the 3 features of its input (N, 4, 3) and its 2 filters");
  CHECK(error_on({8}, [](Symbol x) { depthwise_conv2d(x); }) ==
        "depthwise_conv2d_1 (depthwise_conv2d): needs images (N, C, H, W), but its input is (N, 8)");
  CHECK(error_on({3, 2, 2}, [](Symbol x) { separable_conv2d(x, {.filters = 2}); }) ==
        "separable_conv2d_1 (separable_conv2d): a window of 3 x 3 does not fit into its input (N, 3, 2, 2)");
  CHECK(error_on({8}, [](Symbol x) { conv2d_transpose(x, {.filters = 2}); }) ==
        "conv2d_transpose_1 (conv2d_transpose): needs images (N, C, H, W), but its input is (N, 8)");
  CHECK(
      error_on({3, 1, 1}, [](Symbol x) { conv2d_transpose(x, {.filters = 2, .padding = Padding::by(2)}); }) ==
      "conv2d_transpose_1 (conv2d_transpose): its padding turns its input (N, 3, 1, 1) into (N, 2, -1, -1)");
  CHECK(error_on({3, 4, 4},
                 [](Symbol x) { conv2d_transpose(x, {.filters = 2, .stride = 2, .output_padding = 2}); }) ==
        "conv2d_transpose_1 (conv2d_transpose): its output_padding turns its input (N, 3, 4, 4) into (N, 2, "
        "11, 11), a stride or more beyond what the input reaches");
  CHECK(error_on({3, 4, 4}, [](Symbol x) { conv2d_transpose(x, {.filters = 2, .groups = 2}); }) ==
        "conv2d_transpose_1 (conv2d_transpose): 2 groups must divide both its 3 input channels and its 2 "
        "filters");
}

namespace {

constexpr Pass kPasses[] = {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeights};

WinogradShape shape(std::int64_t samples, std::int64_t in, std::int64_t out, std::int64_t side,
                    std::int64_t padding) {
  const std::int64_t output = side + 2 * padding - 2;
  return {samples, in, out, side, side, output, output, padding, padding};
}

bool automatic(Pass pass, const WinogradShape& shape) {
  return prefers_winograd(pass, shape, kFloat, ConvolutionChoice::kAuto);
}

}  // namespace

TEST_CASE("auto chooses the algorithm that was measured to be faster") {
  for (const Pass pass : kPasses) {
    CAPTURE(static_cast<int>(pass));
    // The two CNNs, with a micro-batch of the recipes and a whole batch; ResNet-50 and VGG-16.
    for (const std::int64_t samples : {4, 8, 64}) {
      CHECK(automatic(pass, shape(samples, 32, 64, 13, 0)));
      CHECK(automatic(pass, shape(samples, 64, 64, 5, 0)));
      CHECK(automatic(pass, shape(samples, 32, 64, 28, 1)));
      CHECK(automatic(pass, shape(samples, 64, 128, 14, 1)));
      CHECK(automatic(pass, shape(samples, 64, 64, 56, 1)));
      CHECK(automatic(pass, shape(samples, 512, 512, 14, 1)));
    }
    CHECK(automatic(pass, shape(8, 512, 512, 7, 1)));
    CHECK_FALSE(automatic(pass, shape(16, 64, 64, 1, 1)));  // a single pixel needs a tile of four
  }
  // For a single small image, transforming the weights costs more than its few tiles save.
  CHECK_FALSE(automatic(Pass::kForward, shape(1, 512, 512, 7, 1)));
  CHECK_FALSE(automatic(Pass::kBackwardData, shape(4, 512, 512, 4, 1)));
  CHECK_FALSE(automatic(Pass::kBackwardWeights, shape(1, 64, 64, 5, 0)));
  CHECK(automatic(Pass::kForward, shape(1, 64, 64, 5, 0)));
}

TEST_CASE("a forced choice does not depend on the shape") {
  for (const Pass pass : kPasses) {
    CHECK(prefers_winograd(pass, shape(1, 16, 16, 3, 0), kFloat, ConvolutionChoice::kWinograd));
    CHECK_FALSE(prefers_winograd(pass, shape(64, 64, 64, 28, 1), kFloat, ConvolutionChoice::kDirect));
  }
}
