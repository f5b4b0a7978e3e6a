// Pooling, and zero_pad, crop, resize.
#include "around.hpp"
#include "golden.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

constexpr auto kBilinear = ResizeOptions::Method::kBilinear;

/// Checks `body` after convolutions of several widths, as the first layer, and in bf16.
template <class Body>
void check_image(std::int64_t height, std::int64_t width, const Body& body, double bf16_tolerance = 0.03) {
  for (const std::int64_t channels : {3, 16, 20}) {
    check_graph(around(channels, height, width, body), {.micro_batch = channels == 3 ? 2 : 1});
  }
  check_graph(as_first(Shape{3, height, width}, body), kMicroBatchOf2);
  for (const std::int64_t channels : {16, 20})
    check_bf16(around(channels, height, width, body), kMicroBatchOf2, bf16_tolerance);
}

template <class Body>
void check_sequence(std::int64_t length, const Body& body, double bf16_tolerance = 0.03) {
  for (const std::int64_t features : {3, 16, 20}) check_graph(along(features, length, body), kMicroBatchOf2);
  check_graph(as_first(Shape{length, 3}, body), kMicroBatchOf2);
  check_bf16(along(16, length, body), {.micro_batch = 2}, bf16_tolerance);
}

/// Tolerance for gradients of maxima, which differ if another value wins in bf16.
constexpr double kKinks = 0.3;

}  // namespace

TEST_CASE("max_pool and average_pool: sizes, strides, padding, windows beyond the end and short of it") {
  struct Windows {
    PoolOptions options;
    std::int64_t height, width;
  };
  for (Windows windows : std::vector<Windows>{
           {{}, 6, 8},
           {{}, 5, 7},
           {{.size = 3}, 7, 8},
           {{.size = 3, .stride = 2}, 7, 8},
           {{.size = 3, .stride = 2, .padding = Padding::same()}, 6, 7},
           {{.size = 3, .stride = 2, .padding = Padding::by(1)}, 6, 7},
           {{.size = 2, .stride = 3}, 7, 9},
           {{.size = {1, 3}, .stride = {2, 1}}, 5, 6},
           {{.size = {4, 2}, .stride = 1, .padding = Padding::same()}, 4, 5},
           {{.size = {3, 2}, .stride = 1, .padding = Padding::by({1, 0})}, 4, 5},
           {{.size = 1}, 3, 3},
           {{.size = {6, 5}}, 6, 5},
           {{.size = 3, .stride = 2, .padding = Padding::by({0, 1}, {1, 2})}, 5, 6},
           {{.size = 3, .stride = 2, .padding = Padding::by(1), .ceil = true}, 6, 5},
           {{.size = 2, .ceil = true}, 5, 3},
           {{.size = {2, 1}, .stride = 3, .padding = Padding::by({1, 0}), .ceil = true}, 5, 6},
           {{.size = 3, .stride = 2, .padding = Padding::same(), .ceil = true}, 4, 5}}) {
    for (const std::int64_t channels : {3, 16, 20}) {
      const auto check = [&](const auto& pool) {
        check_graph(around(channels, windows.height, windows.width,
                           [&](Symbol x) { return pool(x, windows.options); }));
      };
      check(max_pool);
      for (const bool count : {false, true}) {
        windows.options.count_padding = count;
        check(average_pool);
      }
    }
  }
  // No node before it needs a gradient.
  check_graph(as_first(Shape{3, 6, 5}, [](Symbol x) { return average_pool(x); }));
  check_bf16(
      around(16, 6, 5,
             [](Symbol x) {
               return average_pool(
                   x,
                   {.size = 3, .stride = 2, .padding = Padding::by(1), .ceil = true, .count_padding = true});
             }),
      {.micro_batch = 2});
}

TEST_CASE("a max_pool with windows beyond the end is not fused as a tiling") {
  check_graph(around(16, 5, 5, [](Symbol x) { return max_pool(relu(batch_norm(x)), {.ceil = true}); }));
  Graph graph({1, 7, 7});
  dense(flatten(max_pool(relu(conv2d(input(graph), {.filters = 16, .kernel = 3})), {.ceil = true})),
        {.units = 3});
  check_graph(graph, kMicroBatchOf2);
}

TEST_CASE("global pools") {
  check_image(
      3, 5, [](Symbol x) { return global_max_pool(x); }, kKinks);
  check_image(1, 1, [](Symbol x) { return global_max_pool(x); });
  check_sequence(
      5, [](Symbol x) { return global_max_pool1d(x); }, kKinks);
  check_sequence(5, [](Symbol x) { return global_average_pool1d(x); });
  check_sequence(1, [](Symbol x) { return global_average_pool1d(x); });
}

TEST_CASE("adaptive pools: sizes that divide the image, do not divide it, or are larger") {
  for (const Extent size : {Extent(2, 3), Extent(3, 2), Extent(1, 5)}) {
    check_image(
        4, 3, [&](Symbol x) { return adaptive_average_pool(x, size); }, 0.05);
    check_image(
        4, 3, [&](Symbol x) { return adaptive_max_pool(x, size); }, kKinks);
  }
}

TEST_CASE("pools along sequences") {
  check_sequence(
      7, [](Symbol x) { return max_pool1d(x); }, kKinks);
  check_sequence(
      7, [](Symbol x) { return relu(max_pool1d(x, {.size = 3, .stride = 2, .padding = Padding::same()})); },
      kKinks);
  check_sequence(6, [](Symbol x) { return average_pool1d(x, {.size = 3, .stride = 2, .ceil = true}); });
  check_sequence(6, [](Symbol x) {
    return average_pool1d(
        x, {.size = 3, .stride = 2, .padding = Padding::by({0, 1}, {0, 2}), .count_padding = true});
  });
}

TEST_CASE("zero_pad and crop") {
  const auto pad = [](Symbol x) { return zero_pad(tanh(x), {{0, 1}, {2, 0}}); };
  check_image(3, 2, pad);
  check_image(4, 3, [](Symbol x) { return crop(x, {{1, 0}, {0, 2}}); });
  check_image(2, 2, [](Symbol x) { return crop(zero_pad(x), {{2, 0}, {0, 1}}); });
}

TEST_CASE("resize") {
  for (const auto method : {ResizeOptions::Method::kNearest, kBilinear}) {
    check_image(3, 2, [&](Symbol x) { return resize(x, {.scale = {2, 3}, .method = method}); });
    check_image(4, 3, [&](Symbol x) { return resize(x, {.size = {3, 5}, .method = method}); });
    check_image(1, 1, [&](Symbol x) { return resize(x, {.size = 2, .method = method}); });
  }
}

TEST_CASE("resize: centers and rounding") {
  using Centers = ResizeOptions::Centers;
  using Round = ResizeOptions::Rounding;
  const auto check = [](const ResizeOptions& options) {
    check_graph(around(3, 4, 3, [&](Symbol x) { return resize(x, options); }), kMicroBatchOf2);
  };
  for (const auto centers : {Centers::kHalfPixel, Centers::kAlignCorners, Centers::kAsymmetric}) {
    for (const Extent size : {Extent{3, 5}, Extent{8, 1}}) {
      check({.size = size, .method = kBilinear, .centers = centers});
      for (const auto rounding :
           {Round::kRoundPreferCeil, Round::kRoundPreferFloor, Round::kFloor, Round::kCeil})
        check({.size = size, .centers = centers, .rounding = rounding});
    }
  }
}

TEST_CASE("a convolution, or a pooling after a ReLU, includes the zeroes around its input in its padding") {
  const auto check = [&](const auto& body, const std::vector<std::string>& expected) {
    for (const std::int64_t channels : {3, 16}) {
      const Graph graph = around(channels, 5, 4, body);
      CHECK(absorbed(graph) == expected);
      check_graph(graph, kMicroBatchOf2);
    }
    const Graph first = as_first(Shape{3, 5, 4}, body);
    CHECK(absorbed(first) == expected);
    check_graph(first, kMicroBatchOf2);
  };
  using Names = std::vector<std::string>;
  const Border border{{1, 0}, {0, 2}};
  check([&](Symbol x) { return conv2d(zero_pad(x, border), {.filters = 5, .kernel = 3}); }, {"zero_pad_1"});
  check(
      [&](Symbol x) {
        return conv2d(zero_pad(x), {.filters = 5, .kernel = 3, .padding = Padding::by({0, 1}, {1, 0})});
      },
      {"zero_pad_1"});
  check([&](Symbol x) { return relu(depthwise_conv2d(zero_pad(x, border), {.stride = 2})); },
        {"zero_pad_1", "relu_1"});
  check([](Symbol x) { return max_pool(zero_pad(relu(batch_norm(x))), {.size = 3, .stride = 2}); },
        {"relu_1", "zero_pad_1"});
  // A border is not fused where that would change the result.
  check([](Symbol x) { return max_pool(zero_pad(tanh(x)), {.size = 3, .stride = 2}); }, Names{});
  check(
      [&](Symbol x) { return conv2d(zero_pad(x), {.filters = 5, .kernel = 3, .padding = Padding::same()}); },
      Names{});
  check([](Symbol x) { return average_pool(zero_pad(x)); }, Names{});
  check(
      [](Symbol x) {
        const Symbol padded = zero_pad(x);
        return add(conv2d(padded, {.filters = 5, .kernel = 3}), conv2d(padded, {.filters = 5, .kernel = 3}));
      },
      Names{});
}

// import numpy as np, torch, torch.nn.functional as F
// from keras import layers as L                       # Keras 3 on TensorFlow
// def ramp(*shape): return ((np.arange(np.prod(shape)) * 7 % 11 - 5) / 4).astype("float32").reshape(shape)
using Golden = std::vector<double>;

namespace {

/// Returns the largest relative difference of the output of `body` for a ramp. Golden values have nine
/// digits.
template <class Body>
double off(const Shape& shape, const Body& body, const Golden& golden) {
  Graph graph(shape);
  as_vector(body(input(graph)));
  return difference(output_for_ramp(graph), golden);
}

}  // namespace

TEST_CASE("ceil, count_padding and adaptive pools equal PyTorch's") {
  // x = torch.from_numpy(ramp(1, 2, 5, 6))
  const auto check = [](const auto& body, const Golden& golden) {
    CHECK(off({2, 5, 6}, body, golden) < 1e-6);
  };
  const Padding one = Padding::by(1);
  // F.max_pool2d(x, 3, 2, ceil_mode=True)
  check([&](Symbol x) { return max_pool(x, {.size = 3, .stride = 2, .ceil = true}); },
        Golden{1.25, 1.25, 1, 1.25, 1.25, 1, 1.25, 1, 1.25, 1, 1.25, 1.25});
  // F.max_pool2d(x, 2, 3, padding=1, ceil_mode=True)
  check([&](Symbol x) { return max_pool(x, {.size = 2, .stride = 3, .padding = one, .ceil = true}); },
        Golden{-1.25, 1.25, -0.75, 0.5, 1.25, 1, -1, -0.25, -0.5, 0.75, 1, 1.25});
  // F.avg_pool2d(x, 3, 2, padding=1, ceil_mode=True)
  check(
      [&](Symbol x) {
        return average_pool(x, {.size = 3, .stride = 2, .padding = one, .ceil = true, .count_padding = true});
      },
      // clang-format off
      Golden{0.027777778, 0.111111112, 0, -0.333333343, 0, 0.027777778, -0.138888896, 0.0416666679,
          -0.027777778, 0.027777778, -0.0833333358, 0.0833333358, 0.138888896, -0.027777778, -0.138888896,
          -0.25, 0.166666672, -0.027777778, 0.111111112, 0.166666672, -0.222222224, -0.111111112,
          0.0833333358, 0.166666672});
  // clang-format on
  // F.avg_pool2d(x, 3, 2, padding=1, ceil_mode=True, count_include_pad=False)
  check(
      [&](Symbol x) { return average_pool(x, {.size = 3, .stride = 2, .padding = one, .ceil = true}); },
      Golden{
          0.0625,  0.166666672,  0,           -1,          0,      0.027777778,   -0.138888896, 0.0833333358,
          -0.0625, 0.0416666679, -0.125,      0.25,        0.3125, -0.0416666679, -0.208333328, -0.75,
          0.25,    -0.027777778, 0.111111112, 0.333333343, -0.5,   -0.166666672,  0.125,        0.5});
  // F.avg_pool2d(x, (2, 4), (2, 3), ceil_mode=True)
  check(
      [&](Symbol x) {
        return average_pool(x, {.size = {2, 4}, .stride = {2, 3}, .ceil = true, .count_padding = true});
      },
      Golden{0.09375, 0, 0.125, -0.0833333358, 0.0625, 0.0833333358, 0, -0.208333328, 0.03125, 0.166666672,
             -0.375, 0.333333343});
  // F.adaptive_avg_pool2d(x, (3, 4))
  check(
      [&](Symbol x) {
        return adaptive_average_pool(x, {3, 4});
      },
      Golden{0.0625, -0.25,         0.5,    -0.5,   0,       -0.0833333358, -0.25, -0.333333343, -0.0625,
             0.3125, -0.3125,       0.0625, 0.3125, 0,       0.0625,        -0.25, 0.25,         -0.291666657,
             0,      -0.0833333358, -0.5,   -0.125, -0.0625, 0.3125});
}

TEST_CASE("pools along sequences equal Keras'") {
  const auto check = [](const auto& body, const Golden& golden) { CHECK(off({7, 2}, body, golden) < 1e-6); };
  const Padding same = Padding::same();
  // L.MaxPooling1D(3, 2, padding="same")(ramp(1, 7, 2))
  check([&](Symbol x) { return max_pool1d(x, {.size = 3, .stride = 2, .padding = same}); },
        Golden{-0.5, 1.25, 1, 1.25, 1, 0.75, 0.5, -0.5});
  // L.AveragePooling1D(2, 3, padding="same")(ramp(1, 7, 2))
  check([&](Symbol x) { return average_pool1d(x, {.size = 2, .stride = 3, .padding = same}); },
        Golden{-0.875, 0.875, 0, 0.375, 0.5, -0.5});
}

TEST_CASE("resize, zero_pad and crop equal Keras'") {
  // x = ramp(1, 2, 3, 4).transpose(0, 2, 3, 1); results .transpose(0, 3, 1, 2)
  const auto check = [](const auto& body, const Golden& golden) {
    CHECK(off({2, 3, 4}, body, golden) < 1e-6);
  };
  // L.Resizing(5, 3, interpolation="nearest")(x); equal to F.interpolate(x, (5, 3), mode="nearest-exact")
  check(
      [&](Symbol x) {
        return resize(x, {.size = {5, 3}});
      },
      Golden{-1.25, -0.5, 1.25, -1.25, -0.5, 1.25, 0.25,  1, 0,  -1,   -0.25, -1.25, -1,   -0.25, -1.25,
             0.5,   1.25, 0.25, 0.5,   1.25, 0.25, -0.75, 0, -1, 0.75, -1.25, 0.5,   0.75, -1.25, 0.5});
  // L.Resizing(2, 7, interpolation="bilinear")(x); equal to F.interpolate(x, (2, 7), mode="bilinear")
  check(
      [&](Symbol x) {
        return resize(x, {.size = {2, 7}, .method = kBilinear});
      },
      Golden{-0.875,  -0.495535642, 0.111607134,  0.03125, -0.0491069257,  0.558035851,  0.9375,
             -0.6875, -0.308035642, 0.299107134,  0.21875, -0.00892877579, -0.580357313, -0.9375,
             0.1875,  0.0758928359, -0.102678597, 0.40625, 0.866071224,    0.294642687,  -0.0625,
             0.375,   0.263392836,  0.084821403,  -0.4375, -0.861606956,   -0.254464149, 0.125});
  // L.ZeroPadding2D(((1, 0), (0, 2)))(x); equal to F.pad(x, (0, 2, 1, 0))
  check(
      [&](Symbol x) {
        return zero_pad(x, {{1, 0}, {0, 2}});
      },
      Golden{0,    0,    0,  0,    0,     0,     -1.25, 0.5, -0.5, 1.25, 0,    0,     0.25,  -0.75, 1,   0,
             0,    0,    -1, 0.75, -0.25, -1.25, 0,     0,   0,    0,    0,    0,     0,     0,     0.5, -0.5,
             1.25, 0.25, 0,  0,    -0.75, 1,     0,     -1,  0,    0,    0.75, -0.25, -1.25, 0.5,   0,   0});
  // L.Cropping2D(((1, 0), (1, 2)))(x)
  check([&](Symbol x) { return crop(x, {{1, 1}, {0, 2}}); }, Golden{-0.75, 0.75, 1, -0.25});
  // L.UpSampling2D((2, 3))(x) repeats every pixel.
  Golden repeated;
  for (const std::int64_t plane : {0, 1}) {
    for (std::int64_t i = 0; i < 6 * 12; ++i)
      repeated.push_back(ramp(24)[static_cast<std::size_t>(plane * 12 + i / 24 * 4 + i % 12 / 3)]);
  }
  check([](Symbol x) { return resize(x, {.scale = {2, 3}}); }, repeated);
}

TEST_CASE("resize equals PyTorch's and onnxruntime's") {
  // x = torch.tensor(ramp(1, 1, 4, 3)); ONNX: onnxruntime's Resize of the same x to `sizes`
  using Centers = ResizeOptions::Centers;
  using Round = ResizeOptions::Rounding;
  const auto check = [](const ResizeOptions& options, const Golden& golden) {
    CHECK(off(
              {1, 4, 3}, [&](Symbol x) { return resize(x, options); }, golden) < 1e-6);
  };
  // F.interpolate(x, (3, 5), mode="bilinear", align_corners=True)
  check({.size = {3, 5}, .method = kBilinear, .centers = Centers::kAlignCorners},
        Golden{-1.25, -0.375, 0.5, 0, -0.5, 1.125, 0.625, 0.125, -0.375, -0.875, 0.75, 0.25, -0.25, -0.75,
               -1.25});
  // F.interpolate(x, (1, 6), mode="bilinear", align_corners=True)
  check({.size = {1, 6}, .method = kBilinear, .centers = Centers::kAlignCorners},
        Golden{-1.25, -0.55000001, 0.15000002, 0.29999995, -0.10000002, -0.5});
  // F.interpolate(x, (7, 2), mode="nearest")
  check({.size = {7, 2}, .centers = Centers::kAsymmetric, .rounding = Round::kFloor},
        Golden{-1.25, 0.5, -1.25, 0.5, 1.25, 0.25, 1.25, 0.25, 1, 0, 1, 0, 0.75, -0.25});
  // F.interpolate(x, (3, 5), mode="nearest")
  check({.size = {3, 5}, .centers = Centers::kAsymmetric, .rounding = Round::kFloor},
        Golden{-1.25, -1.25, 0.5, 0.5, -0.5, 1.25, 1.25, 0.25, 0.25, -0.75, 1, 1, 0, 0, -1});
  // ONNX: mode="nearest", with its defaults "half_pixel" and "round_prefer_floor"
  check({.size = {6, 1}, .rounding = Round::kRoundPreferFloor}, Golden{0.5, 0.5, 0.25, 0, 0, -0.25});
  // ONNX: mode="nearest", "asymmetric", nearest_mode="ceil"
  check({.size = {6, 2}, .centers = Centers::kAsymmetric, .rounding = Round::kCeil},
        Golden{-1.25, -0.5, 1.25, -0.75, 1, -1, 1, -1, 0.75, -1.25, 0.75, -1.25});
  // ONNX: mode="linear", "asymmetric"
  check({.size = {3, 5}, .method = kBilinear, .centers = Centers::kAsymmetric},
        Golden{-1.25, -0.19999996, 0.29999995, -0.30000007, -0.5, 1.1666666, 0.5666666, -0.033333398,
               -0.63333344, -0.83333331, 0.83333331, 0.23333329, -0.36666673, -0.9666667, -1.1666667});
}

TEST_CASE("pools and borders that do not fit are refused with both shapes") {
  CHECK(error_on({3, 8, 8}, [](Symbol x) { max_pool1d(x); }) ==
        "max_pool1d_1 (max_pool1d): needs sequences (N, L, F), but its input is (N, 3, 8, 8)");
  CHECK(error_on({3, 8}, [](Symbol x) { average_pool1d(x, {.size = 4}); }) ==
        "average_pool1d_1 (average_pool1d): a window of 4 does not fit into its input (N, 3, 8)");
  CHECK(error_on({3, 8}, [](Symbol x) {
          max_pool1d(x, {.padding = Padding::by({0, 0}, {0, 2})});
        }) == "max_pool1d_1 (max_pool1d): padding of 2 is not smaller than its window of 2");
  CHECK(error_on({3, 8, 8}, [](Symbol x) {
          max_pool(x, {.padding = Padding::by({0, 0}, {1, 2})});
        }) == "max_pool_1 (max_pool): padding of 1 x 2 is not smaller than its window of 2 x 2");
  CHECK(error_on({3, 8}, [](Symbol x) { global_max_pool(x); }) ==
        "global_max_pool_1 (global_max_pool): needs images (N, C, H, W), but its input is (N, 3, 8)");
  CHECK(error_on({3, 8, 8}, [](Symbol x) { global_max_pool1d(x); }) ==
        "global_max_pool1d_1 (global_max_pool1d): needs sequences (N, L, F), but its input is (N, 3, 8, 8)");
  CHECK(error_on({8}, [](Symbol x) { adaptive_max_pool(x, 2); }) ==
        "adaptive_max_pool_1 (adaptive_max_pool): needs images (N, C, H, W), but its input is (N, 8)");
  CHECK(error_on({8}, [](Symbol x) { zero_pad(x); }) ==
        "zero_pad_1 (zero_pad): needs images (N, C, H, W), but its input is (N, 8)");
  CHECK(error_on({3, 4, 4}, [](Symbol x) { crop(x, 2); }) ==
        "crop_1 (crop): reduces its input (N, 3, 4, 4) to (N, 3, 0, 0)");
  CHECK(error_on({3, 4, 4}, [](Symbol x) { resize(x, {}); }) ==
        "resize_1 (resize): has neither size nor scale for its input (N, 3, 4, 4)");
}
