#include "interop/layer_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/nn/layer_table.hpp"
#include "interop/keras/call.hpp"
#include "interop/keras/composition.hpp"
#include "interop/onnx/call.hpp"
#include "interop/onnx/emission.hpp"

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

constexpr std::array kElementFunctions{
    ElementFunction{"abs", "Abs", "Absolute", "math.abs"},
    ElementFunction{"abs", "", "Abs", "abs"},
    ElementFunction{"ceil", "Ceil", "Ceil", "math.ceil"},
    ElementFunction{"cos", "Cos", "Cos", "math.cos"},
    ElementFunction{"divide", "Div", "TrueDivide", "math.truediv"},
    ElementFunction{"divide", "", "Divide", "math.divide"},
    ElementFunction{"divide", "Reciprocal", "Reciprocal", "math.reciprocal", {.before = 1}},
    ElementFunction{"equal", "Equal", "Equal", "math.equal", {.boolean = true}},
    ElementFunction{"equal", "Not", "LogicalNot", "math.logical_not", {.boolean = true, .after = 0}},
    ElementFunction{"erf", "Erf", "Erf", "math.erf"},
    ElementFunction{"exp", "Exp", "Exp", "math.exp"},
    ElementFunction{"floor", "Floor", "Floor", "math.floor"},
    ElementFunction{"greater", "Greater", "Greater", "math.greater", {.boolean = true}},
    ElementFunction{"greater", "Less", "Less", "math.less", {.boolean = true, .swapped = true}},
    ElementFunction{
        "greater_equal", "GreaterOrEqual", "GreaterEqual", "math.greater_equal", {.boolean = true}},
    ElementFunction{
        "greater_equal", "LessOrEqual", "LessEqual", "math.less_equal", {.boolean = true, .swapped = true}},
    ElementFunction{"log", "Log", "Log", "math.log"},
    ElementFunction{"maximum", "Max", "Maximum", "math.maximum"},
    ElementFunction{
        "maximum", "Or", "LogicalOr", "math.logical_or", {.boolean = true, .takes_booleans = true}},
    ElementFunction{"minimum", "Min", "Minimum", "math.minimum"},
    ElementFunction{
        "minimum", "And", "LogicalAnd", "math.logical_and", {.boolean = true, .takes_booleans = true}},
    ElementFunction{"power", "Pow", "Power", "math.pow"},
    ElementFunction{"power", "", "Rsqrt", "math.rsqrt", {.after = -0.5}},
    ElementFunction{"power", "", "Square", "math.square", {.after = 2}},
    ElementFunction{"round", "Round", "Round", "math.round"},
    ElementFunction{"sign", "Sign", "Sign", "math.sign"},
    ElementFunction{"sin", "Sin", "Sin", "math.sin"},
    ElementFunction{"sqrt", "Sqrt", "Sqrt", "math.sqrt"},
    ElementFunction{"subtract", "Sub", "Subtract", "math.subtract"},
    ElementFunction{"subtract", "", "Negative", "math.negative", {.before = 0}},
    ElementFunction{"where", "Where", "Where", "where"},
};

constexpr std::array kFamilies{
    &kWrittenActivations, &kWrittenConvolutions, &kWrittenNormalizations,
    &kWrittenPoolings,    &kWrittenSequences,    &kWrittenStructure,
};

/// Returns the entry of a type; without functions if there is none.
WrittenLayer find_layer(std::string_view type) {
  for (const auto* family : kFamilies) {
    if (const WrittenLayer* entry = find_named(*family, type)) return *entry;
  }
  const PlainLayer* plain = find_named(plain_layers(), type);
  if (plain == nullptr) return {type};
  return {type, plain->training ? nullptr : onnx_export::emit_plain, keras_export::compose_plain};
}

std::string in_code(const auto& all) {
  std::vector<std::string> names(all.begin(), all.end());
  for (std::string& name : names) name = "`" + name + "`";
  return join(names) + "\n";
}

}  // namespace

std::span<const PlainLayer> plain_layers() { return kPlainLayers; }
std::span<const ElementFunction> element_functions() { return kElementFunctions; }

WrittenLayer written_layer(const nn::Node& node) {
  const WrittenLayer layer = find_layer(node.layer->type());
  if (layer.compose != nullptr) return layer;
  throw Error(fmt::format("{}: export does not know the layer \"{}\"", node.name, layer.name));
}

std::string layer_reference() {
  std::string text = "## ONNX operators that become layers\n\n" + in_code(onnx::operator_names());
  text += "\n## Keras layers that are read\n\n" + in_code(keras::layer_classes());
  text += "\n## Layers that are written\n\n| layer | ONNX | Keras |\n|---|---|---|\n";
  for (const nn::LayerHelp& layer : nn::layer_guide()) {
    const bool keras_has = find_layer(layer.name).compose != keras_export::refuse_layer;
    text += fmt::format("| `{}` | yes | {} |\n", layer.name, keras_has ? "yes" : "no");
  }
  return text;
}

}  // namespace convoke::interop
