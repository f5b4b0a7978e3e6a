#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "interop/keras/composition.hpp"
#include "interop/layer_tables.hpp"
#include "interop/onnx/emission.hpp"

// How activations, functions of elements and dropout are written.

namespace convoke::interop {
namespace {

using namespace keras_export;
using namespace onnx_export;

void emit_relu6(Emission& e) { e.result("Clip", {e.input(), e.scalar(0), e.scalar(6)}); }

void emit_hard_sigmoid(Emission& e) {
  e.result("HardSigmoid", {e.input()}, {{"alpha", 1.0F / 6.0F}, {"beta", 0.5F}});
}
void emit_prelu(Emission& e) { e.result("PRelu", {e.input(), e.weight("alpha", "weight", e.per_channel())}); }
void emit_silu(Emission& e) { e.result("Mul", {e.input(), e.op("Sigmoid", {e.input()})}); }
void emit_softmax(Emission& e) {
  const bool image = e.input_shape().rank() == 3;  // over its channels; otherwise over the last axis
  e.result("Softmax", {e.input()}, {{"axis", std::int64_t{image ? 1 : -1}}});
}

// x Phi(x) = x / 2 (1 + erf(x / sqrt 2)), or with tanh(sqrt(2 / pi) (x + 0.044715 x^3)) for erf.
void emit_gelu(Emission& e) {
  const std::string x = e.input();
  std::string curve;
  if (e.settings.flag("approximate")) {
    const std::string cubed = e.op("Mul", {e.op("Mul", {x, x}), x});
    const std::string inner = e.op("Add", {x, e.op("Mul", {cubed, e.scalar(0.044715)})});
    curve = e.op("Tanh", {e.op("Mul", {inner, e.scalar(std::sqrt(2 / std::numbers::pi))})});
  } else {
    curve = e.op("Erf", {e.op("Div", {x, e.scalar(std::numbers::sqrt2)})});
  }
  e.result("Mul", {e.op("Mul", {x, e.op("Add", {curve, e.scalar(1)})}), e.scalar(0.5)});
}

// Tokens are compared with whole numbers as whole numbers.
std::vector<std::string> operands_of(Emission& e, const ElementFunction& function) {
  std::vector<std::string> operands = e.settings.texts("operands");
  if (operands.empty()) operands.assign(e.input_count(), "x");
  const bool tokens = e.input_shape(0).type == nn::ValueType::kToken;
  const bool whole = function.form.boolean && std::ranges::all_of(operands, [](const std::string& operand) {
                       const double number = std::strtod(operand.c_str(), nullptr);
                       return operand == "x" || (std::trunc(number) == number && std::abs(number) < 0x1p31);
                     });
  std::size_t next = 0;
  for (std::string& operand : operands) {
    const double number = std::strtod(operand.c_str(), nullptr);
    if (operand == "x") {
      const bool condition = &operand == &operands[0] && function.name == "where";
      operand = e.input(next++);
      if (tokens && !whole && !condition) operand = e.cast(operand, OnnxType::kFloat);
    } else if (tokens && whole) {
      operand = e.cast(e.integer("number", static_cast<std::int64_t>(number)), OnnxType::kInt32);
    } else {
      operand = e.scalar(number);
    }
  }
  return operands;
}

void emit_elementwise(Emission& e) {
  const ElementFunction& function = *find_named(element_functions(), e.settings.text("function"));
  std::vector<std::string> operands = operands_of(e, function);
  if (function.name == "where") operands[0] = e.cast(operands[0], OnnxType::kBool);
  if (!function.form.boolean) return e.result(function.onnx, operands);
  e.result("Cast", {e.op(function.onnx, operands)}, {{"to", static_cast<std::int64_t>(OnnxType::kFloat)}});
}

KerasTensor rescaled(Composition& c, std::string_view part, const KerasTensor& x, double scale,
                     double offset) {
  return c.layer(part, "Rescaling", {{"scale", scale}, {"offset", offset}}, x, x.shape);
}
KerasTensor product(Composition& c, std::string_view part, const KerasTensor& a, const KerasTensor& b) {
  return c.layer(part, "Multiply", Json::object(), {a, b}, a.shape);
}
KerasTensor activation(Composition& c, std::string_view part, const char* function, const KerasTensor& x) {
  return c.layer(part, "Activation", {{"activation", function}}, x, x.shape);
}

// relu6(x + 3) / 6: Keras 2 has another function of that name.
KerasTensor spelled_hard_sigmoid(Composition& c, std::string_view part) {
  const KerasTensor shifted = rescaled(c, "shifted", c.input(), 1, 3);
  const KerasTensor bounded = c.layer("bounded", "ReLU", {{"max_value", 6.0}}, shifted, shifted.shape);
  return rescaled(c, part, bounded, 1.0 / 6, 0);
}

KerasTensor compose_softmax(Composition& c) { return activation(c, "", "softmax", c.input()); }

KerasTensor compose_relu6(Composition& c) {
  return c.layer("", "ReLU", {{"max_value", 6.0}}, c.input(), c.output());
}
KerasTensor compose_hard_sigmoid(Composition& c) {
  return c.keras2() ? spelled_hard_sigmoid(c, "") : activation(c, "", "hard_sigmoid", c.input());
}
KerasTensor compose_hard_swish(Composition& c) {
  if (!c.keras2()) return activation(c, "", "hard_silu", c.input());
  return product(c, "", c.input(), spelled_hard_sigmoid(c, "gate"));
}

KerasTensor compose_prelu(Composition& c) {
  const std::size_t rank = c.node.shape.rank();
  Json shared = Json::array();
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 1; axis < rank; ++axis) {
    shared.push_back(axis);
    extents.push_back(1);
  }
  extents.push_back(c.channels());
  KerasWeight alpha = c.weights()[0];
  alpha.shape = Shape(extents);
  return c.weighted("", "PReLU", {{"shared_axes", rank > 1 ? shared : Json(nullptr)}}, {alpha}, c.input(),
                    c.output());
}

// The tanh form, which Keras has as a function only:
//   x (1/2 + 1/2 tanh(sqrt(2 / pi) x (1 + 0.044715 x^2)))
KerasTensor compose_gelu(Composition& c) {
  if (!c.settings.flag("approximate")) return activation(c, "", "gelu", c.input());
  const KerasTensor x = c.input();
  const KerasTensor square = product(c, "square", x, x);
  const KerasTensor inner = product(c, "inner", x, rescaled(c, "factor", square, 0.044715, 1));
  const KerasTensor curve =
      activation(c, "tanh", "tanh", rescaled(c, "scaled", inner, std::sqrt(2 / std::numbers::pi), 0));
  return product(c, "", x, rescaled(c, "gate", curve, 0.5, 0.5));
}

KerasTensor compose_dropout(Composition& c) {
  const Json config{{"rate", c.settings.number("rate")}};
  const std::size_t rank = c.node.shape.rank();
  if (!c.settings.flag("spatial") || rank == 1) return c.layer("", "Dropout", config, c.input(), c.output());
  return c.layer("", rank == 3 ? "SpatialDropout2D" : "SpatialDropout1D", config, c.input(), c.output());
}

// Dropout of whole samples.
KerasTensor compose_stochastic_depth(Composition& c) {
  Json noise = Json::array({nullptr});
  for (std::size_t axis = 0; axis < c.node.shape.rank(); ++axis) noise.push_back(1);
  return c.layer("", "Dropout", {{"rate", c.settings.number("rate")}, {"noise_shape", noise}}, c.input(),
                 c.output());
}

KerasTensor cast(Composition& c, std::string_view part, const KerasTensor& x, const char* type) {
  return c.function(part,
                    {.module = "keras.src.ops.core",
                     .class_name = "Cast",
                     .tensorflow = "cast",
                     .names = {},
                     .operands = {nullptr},
                     .config = {{"dtype", type}}},
                    {x}, x.shape);
}

KerasTensor compose_elementwise(Composition& c) {
  const ElementFunction& function = *find_named(element_functions(), c.settings.text("function"));
  const bool where = function.name == "where";
  KerasFunction made{.module = function.name == "erf" ? "keras.src.ops.math" : "keras.src.ops.numpy",
                     .class_name = std::string(function.keras),
                     .tensorflow = std::string(function.tensorflow),
                     .names = {where ? "x" : "y", "y"},
                     .operands = {}};
  std::vector<std::string> operands = c.settings.texts("operands");
  if (operands.empty()) operands.assign(c.input_count(), "x");
  std::vector<KerasTensor> inputs;
  for (const std::string& operand : operands) {
    if (operand != "x") {
      const double number = std::strtod(operand.c_str(), nullptr);
      made.operands.push_back(where && &operand == &operands[0] ? Json(number != 0) : Json(number));
      continue;
    }
    KerasTensor x = c.unmasked(c.input(inputs.size()));
    const bool tokens = c.input_shape(inputs.size()).type == nn::ValueType::kToken;
    if (tokens) x = cast(c, "numbers", x, "float32");
    if (where && &operand == &operands[0]) x = cast(c, "condition", x, "bool");
    made.operands.emplace_back(nullptr);
    inputs.push_back(std::move(x));
  }
  const KerasTensor result =
      c.function(function.form.boolean ? "truth" : "", std::move(made), inputs, c.output());
  return function.form.boolean ? cast(c, "", result, "float32") : result;
}

}  // namespace

const std::initializer_list<WrittenLayer> kWrittenActivations{
    WrittenLayer{"dropout", nullptr, compose_dropout},
    WrittenLayer{"elementwise", emit_elementwise, compose_elementwise},
    WrittenLayer{"gelu", emit_gelu, compose_gelu},
    WrittenLayer{"hard_sigmoid", emit_hard_sigmoid, compose_hard_sigmoid},
    WrittenLayer{"hard_swish", emit_plain, compose_hard_swish},
    WrittenLayer{"prelu", emit_prelu, compose_prelu},
    WrittenLayer{"relu6", emit_relu6, compose_relu6},
    WrittenLayer{"silu", emit_silu, compose_plain},
    WrittenLayer{"softmax", emit_softmax, compose_softmax},
    WrittenLayer{"stochastic_depth", nullptr, compose_stochastic_depth},
};

}  // namespace convoke::interop
