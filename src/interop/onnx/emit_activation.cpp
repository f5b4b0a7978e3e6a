#include <cmath>
#include <numbers>

#include "interop/onnx/emission.hpp"
#include "interop/plain_layers.hpp"

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

}  // namespace convoke::interop::onnx_export
