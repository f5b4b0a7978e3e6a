#include "interop/plain_layers.hpp"

#include <array>

namespace convoke::interop {
namespace {

constexpr std::array kPlainLayers{
    PlainLayer{.name = "add", .onnx = "Sum", .keras = "Add"},
    PlainLayer{.name = "average", .onnx = "Mean", .keras = "Average"},
    PlainLayer{.name = "elu",
               .onnx = "Elu",
               .keras = "ELU",
               .function = "elu",
               .number = {"alpha", "alpha", "alpha", 1, 1}},
    PlainLayer{.name = "elu", .function = "celu"},
    PlainLayer{.name = "gaussian_noise",
               .keras = "GaussianNoise",
               .number = {"stddev", {}, "stddev"},
               .training = true},
    PlainLayer{.name = "gelu", .function = "gelu"},
    PlainLayer{.name = "hard_swish", .onnx = "HardSwish", .function = "hard_silu"},
    PlainLayer{.name = "hard_swish", .function = "hard_swish"},
    PlainLayer{.name = "leaky_relu",
               .onnx = "LeakyRelu",
               .keras = "LeakyReLU",
               .keras2 = "alpha",
               .number = {"negative_slope", "alpha", "negative_slope", 0.01, 0.3}},
    PlainLayer{.name = "maximum", .onnx = "Max", .keras = "Maximum"},
    PlainLayer{.name = "relu", .onnx = "Relu", .function = "relu"},
    PlainLayer{.name = "relu6", .function = "relu6"},
    PlainLayer{.name = "selu", .onnx = "Selu", .function = "selu"},
    PlainLayer{.name = "sigmoid", .onnx = "Sigmoid", .function = "sigmoid"},
    PlainLayer{.name = "silu", .function = "silu", .keras2 = "swish"},
    PlainLayer{.name = "silu", .function = "swish"},
    PlainLayer{.name = "softplus", .onnx = "Softplus", .function = "softplus"},
    PlainLayer{.name = "subtract", .onnx = "Sub", .keras = "Subtract"},
    PlainLayer{.name = "tanh", .onnx = "Tanh", .function = "tanh"},
};

}  // namespace

std::span<const PlainLayer> plain_layers() { return kPlainLayers; }

}  // namespace convoke::interop
