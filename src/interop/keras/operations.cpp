#include "interop/keras/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "interop/keras/layers.hpp"
#include "interop/keras/naming.hpp"

namespace convoke::interop::keras {
namespace {

// The names of operands; other arguments are settings.
bool is_operand(const Argument& argument) {
  static constexpr std::array<std::string_view, 5> kNames{"", "x", "x1", "x2", "y"};
  return std::find(kNames.begin(), kNames.end(), argument.keyword) != kNames.end();
}

// A number, also as NumPy's: {"class_name": "__numpy__", "config": {"value": 0.4}}.
std::optional<double> number_of(const Json& constant) {
  const Json& value = constant.is_object() ? member(member(constant, "config"), "value") : constant;
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

bool is_number(const Argument& argument) {
  return is_operand(argument) && !argument.call &&
         (argument.constant.is_number() || argument.constant.is_object());
}

Value rescaled(const Call& call, const Value& x, double scale, double offset, std::string_view suffix) {
  return call.add({{"layer", "rescale"}, {"scale", scale}, {"offset", offset}}, x, suffix);
}

// max(x, c) = relu(x - c) + c and min(x, c) = c - relu(c - x), for sign = 1 and -1
Value bounded(const Call& call, const Value& x, double bound, double sign, const std::string& suffix) {
  const std::string part = suffix.empty() ? "" : suffix + "_";
  const Value above = rescaled(call, x, sign, -sign * bound, part + "before");
  return rescaled(call, call.add({{"layer", "relu"}}, above, part + "relu"), sign, bound, suffix);
}

Value combined(const Call& call) {
  const std::string& kind = call.options().class_name;
  if (kind == "Add") return convert_add(call);
  if (kind == "Subtract") return convert_subtract(call);
  if (kind == "Multiply") return convert_multiply(call);
  if (kind == "Maximum") return convert_maximum(call);
  if (kind == "Minimum") return convert_minimum(call);
  throw Error("divides a tensor by another, which is not supported");
}

// scale x + offset for x + c, x - c, c - x, x * c and x / c; max(x, c) and min(x, c)
Value convert_arithmetic(const Call& call) {
  const std::string& kind = call.options().class_name;
  std::vector<Argument> operands;
  std::copy_if(call.arguments().begin(), call.arguments().end(), std::back_inserter(operands),
               [](const Argument& argument) { return argument.call || is_operand(argument); });
  if (operands.size() != 2) throw Error("reads two tensors, or one and a number");
  if (call.inputs().size() == 2) return combined(call);
  const bool number_first = !operands[0].call;
  const std::optional<double> number = number_of(operands[number_first ? 0 : 1].constant);
  if (!number) {
    throw Error("combines a tensor with something that is neither a tensor nor a number",
                "use a Rescaling or Normalization layer");
  }
  const double c = *number;
  if (kind == "Maximum" || kind == "Minimum") {
    return bounded(call, call.input(), c, kind == "Maximum" ? 1 : -1, "");
  }
  double scale = 1, offset = 0;
  if (kind == "Add") offset = c;
  if (kind == "Subtract") std::tie(scale, offset) = number_first ? std::pair(-1.0, c) : std::pair(1.0, -c);
  if (kind == "Multiply") scale = c;
  if (kind == "Divide" || kind == "TrueDivide") {
    if (number_first) throw Error("divides a number by a tensor, which is not supported");
    scale = 1 / c;
  }
  return rescaled(call, call.input(), scale, offset, "");
}

Value convert_clip(const Call& call) {
  const Value above = bounded(call, call.input(), call.config().number("x_min"), 1, "least");
  return bounded(call, above, call.config().number("x_max"), -1, "");
}

// Unlike Keras' activation of this name, the function has the tanh form by default.
Value convert_gelu(const Call& call) {
  return call.add({{"layer", "gelu"}, {"approximate", call.config().flag("approximate", true)}},
                  call.input());
}

// The activation of the function's name: HardSigmoid is "hard_sigmoid".
Value convert_named(const Call& call) {
  return activate(call, call.input(), snake_case(call.options().class_name));
}

constexpr std::array kOperations{
    LayerClass{"Add", convert_arithmetic},
    LayerClass{"Clip", convert_clip},
    LayerClass{"Concatenate", convert_concatenate},
    LayerClass{"Divide", convert_arithmetic},
    LayerClass{"Elu", convert_elu},
    LayerClass{"Gelu", convert_gelu},
    LayerClass{"HardSigmoid", convert_named},
    LayerClass{"HardSilu", convert_named},
    LayerClass{"HardTanh", convert_named},
    LayerClass{"LeakyRelu", convert_leaky_relu},
    LayerClass{"LogSigmoid", convert_named},
    LayerClass{"Maximum", convert_arithmetic},
    LayerClass{"Minimum", convert_arithmetic},
    LayerClass{"Multiply", convert_arithmetic},
    LayerClass{"Relu", convert_named},
    LayerClass{"Relu6", convert_named},
    LayerClass{"Selu", convert_named},
    LayerClass{"Sigmoid", convert_named},
    LayerClass{"Silu", convert_named},
    LayerClass{"Softmax", convert_softmax},
    LayerClass{"Softplus", convert_named},
    LayerClass{"Subtract", convert_arithmetic},
    LayerClass{"Tanh", convert_named},
    LayerClass{"TanhShrink", convert_named},
    LayerClass{"TrueDivide", convert_arithmetic},
};

const LayerClass* find_operation(const std::string& name) {
  const auto* const found = std::find_if(kOperations.begin(), kOperations.end(),
                                         [&](const LayerClass& entry) { return entry.name == name; });
  return found == kOperations.end() ? nullptr : found;
}

/// TensorFlow's functions with the names that keras.ops has for them.
struct Function {
  std::string_view name, kind;
};
constexpr std::array kFunctions{Function{"__operators__.add", "Add"},
                                Function{"math.add", "Add"},
                                Function{"math.multiply", "Multiply"},
                                Function{"math.subtract", "Subtract"},
                                Function{"math.truediv", "TrueDivide"},
                                Function{"math.divide", "TrueDivide"},
                                Function{"math.maximum", "Maximum"},
                                Function{"math.minimum", "Minimum"},
                                Function{"nn.relu", "Relu"},
                                Function{"nn.relu6", "Relu6"},
                                Function{"nn.silu", "Silu"},
                                Function{"math.sigmoid", "Sigmoid"},
                                Function{"math.tanh", "Tanh"}};

}  // namespace

bool is_operation(const std::string& name, const std::vector<Argument>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), is_number) ||
         (find_operation(name) != nullptr && !is_layer_class(name));
}

Value convert_operation(const Call& call) {
  const LayerClass* operation = find_operation(call.options().class_name);
  if (operation != nullptr) return operation->convert(call);
  throw Error("is a function of keras.ops that cannot be converted",
              fmt::format("use a layer in its place; supported are {}", join(names_in(kOperations))));
}

Value convert_tensorflow(const Call& call) {
  const std::string name = call.config().text("function");
  const auto* const function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                            [&](const Function& entry) { return entry.name == name; });
  if (function == kFunctions.end()) {
    throw Error(fmt::format("calls TensorFlow's function {}, which cannot be converted", one_line(name)),
                "save the model again with Keras layers in place of TensorFlow functions");
  }
  Call::Options options = call.options();
  options.class_name = function->kind;
  options.is_operation = true;
  return convert_operation(
      Call(call.context(), call.config().json(), std::move(options), call.inputs(), call.arguments()));
}

}  // namespace convoke::interop::keras
