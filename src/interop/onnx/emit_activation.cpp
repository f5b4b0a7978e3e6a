#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "interop/onnx/emission.hpp"
#include "interop/plain_layers.hpp"

// Activations, and functions element by element.

namespace convoke::interop::onnx_export {

void emit_plain(Emission& e) {
  const PlainLayer& layer = *find_plain_layer(&PlainLayer::name, e.settings.type());
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < e.input_count(); ++i) inputs.push_back(e.input(i));
  OnnxAttributes attributes;
  if (const PlainLayer::Number& number = layer.number; !number.name.empty())
    attributes.push_back({std::string(number.onnx), static_cast<float>(e.settings.number(number.name))});
  e.result(layer.onnx, std::move(inputs), attributes);
}

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

namespace {

constexpr std::int64_t kFloat = 1, kInt32 = 6, kBool = 9;

std::string cast(Emission& e, const std::string& value, std::int64_t type) {
  return e.op("Cast", {value}, {{"to", type}});
}

// Tokens are compared with whole numbers as whole numbers.
std::vector<std::string> operands_of(Emission& e, bool boolean) {
  std::vector<std::string> operands = e.settings.texts("operands");
  if (operands.empty()) operands.assign(e.input_count(), "x");
  const bool tokens = e.input_shape(0).type == nn::ValueType::kToken;
  const bool whole = boolean && std::ranges::all_of(operands, [](const std::string& operand) {
                       const double number = std::strtod(operand.c_str(), nullptr);
                       return operand == "x" || (std::trunc(number) == number && std::abs(number) < 0x1p31);
                     });
  std::size_t next = 0;
  for (std::string& operand : operands) {
    const double number = std::strtod(operand.c_str(), nullptr);
    if (operand == "x") {
      operand = e.input(next++);
      if (tokens && !whole) operand = cast(e, operand, kFloat);
    } else if (tokens && whole) {
      operand = cast(e, e.integer("number", static_cast<std::int64_t>(number)), kInt32);
    } else {
      operand = e.scalar(number);
    }
  }
  return operands;
}

}  // namespace

void emit_elementwise(Emission& e) {
  const ElementFunction& function =
      *find_element_function(&ElementFunction::name, e.settings.text("function"));
  std::vector<std::string> operands = operands_of(e, function.form.boolean);
  if (function.name == "where") operands[0] = cast(e, operands[0], kBool);
  if (!function.form.boolean) return e.result(function.onnx, operands);
  e.result("Cast", {e.op(function.onnx, operands)}, {{"to", kFloat}});
}

}  // namespace convoke::interop::onnx_export
