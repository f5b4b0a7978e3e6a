#include <cmath>
#include <cstdlib>
#include <numbers>

#include "interop/keras/composition.hpp"
#include "interop/plain_layers.hpp"

// Activations, and functions element by element.

namespace convoke::interop::keras_export {
namespace {

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

}  // namespace

KerasTensor compose_plain(Composition& c) {
  const PlainLayer& layer = *find_plain_layer(&PlainLayer::name, c.settings.type());
  const std::string other(c.keras2() ? layer.keras2 : "");
  if (layer.keras.empty()) {
    const Json config{{"activation", other.empty() ? std::string(layer.function) : other}};
    return c.layer("", "Activation", config, c.input(), c.output());
  }
  Json config = Json::object();
  if (const PlainLayer::Number& number = layer.number; !number.name.empty())
    config[other.empty() ? std::string(number.keras) : other] = c.settings.number(number.name);
  if (c.input_count() == 1) return c.layer("", layer.keras, std::move(config), c.input(), c.output());
  std::vector<KerasTensor> inputs;
  for (std::size_t i = 0; i < c.input_count(); ++i) inputs.push_back(c.unmasked(c.input(i)));
  return c.layer("", layer.keras, std::move(config), std::move(inputs), c.output());
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

namespace {

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

}  // namespace

KerasTensor compose_elementwise(Composition& c) {
  const ElementFunction& function =
      *find_element_function(&ElementFunction::name, c.settings.text("function"));
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

}  // namespace convoke::interop::keras_export
