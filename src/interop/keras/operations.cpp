#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "interop/keras/call.hpp"
#include "interop/layer_tables.hpp"

namespace convoke::interop::keras {
namespace {

using Setting = convoke::Value;

// True for a tensor, and for an argument with the name of an operand; the others are settings.
bool is_operand(const Argument& argument) {
  static constexpr std::array<std::string_view, 7> kNames{"", "x", "x1", "x2", "y", "bias", "condition"};
  return argument.call || std::find(kNames.begin(), kNames.end(), argument.keyword) != kNames.end();
}

// Returns a number or a truth, also NumPy's: {"class_name": "__numpy__", "config": {"value": 0.4}}.
std::optional<double> number_of(const Json& constant) {
  const Json& value = constant.is_object() ? member(member(constant, "config"), "value") : constant;
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

// Functions of keras.ops that are those of our elementwise layer.
Value convert_function(const Call& call) {
  call.config().require_neutral("decimals", 0);
  const ElementFunction& named =
      *find_named(element_functions(), call.options().class_name, &ElementFunction::keras);
  std::vector<Value> inputs;
  Setting::Array operands;
  const auto add_number = [&](double number) { operands.emplace_back(fmt::format("{}", number)); };
  if (named.form.before) add_number(*named.form.before);
  for (const Argument& argument : call.arguments()) {
    if (!is_operand(argument)) continue;
    if (argument.call) {
      operands.emplace_back("x");
      inputs.push_back(call.inputs()[*argument.call]);
    } else {
      const std::optional<double> number = number_of(argument.constant);
      if (!number) {
        throw Error("combines a tensor with something that is neither a tensor nor a number",
                    "use a Rescaling or Normalization layer");
      }
      add_number(*number);
    }
  }
  if (named.form.after) add_number(*named.form.after);
  if (named.form.swapped) {
    std::reverse(operands.begin(), operands.end());
    std::reverse(inputs.begin(), inputs.end());
  }
  inputs = broadcast(call, std::move(inputs));
  if (named.form.takes_booleans) {
    for (Value& x : inputs) x = elementwise(call, "where", {"x", "1", "0"}, {x}, "truth");
  }
  return elementwise(call, named.name, std::move(operands), inputs);
}

bool is_number(const Argument& argument) {
  return is_operand(argument) && !argument.call &&
         (argument.constant.is_number() || argument.constant.is_object() ||
          (argument.constant.is_array() && !argument.constant.empty()));
}

// The numbers of an array along the last axis, with which a tensor is combined: (C) or (1, ..., 1, C).
std::vector<double> numbers_of(const Json& constant) {
  const Json* value = constant.is_object() ? &member(member(constant, "config"), "value") : &constant;
  while (value->is_array() && value->size() == 1 && value->front().is_array()) value = &value->front();
  const bool all = value->is_array() && std::all_of(value->begin(), value->end(),
                                                    [](const Json& number) { return number.is_number(); });
  if (!all || value->empty()) {
    throw Error("combines a tensor with something that is neither a tensor nor numbers",
                "use a Rescaling or Normalization layer");
  }
  return value->get<std::vector<double>>();
}

// (x - mean) / sqrt(variance) for each channel or feature
Value combined_by_channel(const Call& call, const std::vector<double>& numbers, bool numbers_first) {
  const std::string& kind = call.options().class_name;
  Value x = call.plain_input();
  if (call.context().channels_first && call.shape(x).rank() == 3) {
    throw Error("combines the columns of an image with numbers", "use channels_last");
  }
  if (numbers_first && kind == "Subtract") x = rescaled(call, x, -1, 0, "negative");
  const bool adds = kind == "Add" || kind == "Subtract", divides = kind == "Divide" || kind == "TrueDivide";
  std::vector<double> means, variances;
  for (const double number : numbers) {
    if (!adds && !(number > 0 && (kind == "Multiply" || (divides && !numbers_first)))) {
      throw Error("combines a tensor with a list of numbers in a way that is not supported",
                  "supported are sums, differences, and products and quotients of numbers above 0");
    }
    means.push_back(!adds ? 0.0 : kind == "Subtract" && !numbers_first ? number : -number);
    variances.push_back(adds ? 1.0 : divides ? number * number : 1 / (number * number));
  }
  return call.add(standardize_by({means, variances}), x);
}

// scale x + offset for x + c, x - c, c - x, x * c and x / c; max(x, c) and min(x, c)
Value convert_arithmetic(const Call& call) {
  const std::string& kind = call.options().class_name;
  std::vector<Argument> operands;
  std::copy_if(call.arguments().begin(), call.arguments().end(), std::back_inserter(operands), is_operand);
  if (operands.size() != 2) {
    throw Error("reads two tensors, or one and a number", "combine two tensors at a time");
  }
  if (call.inputs().size() == 2) {
    return is_layer_class(kind) ? find_layer(kind)(call) : convert_function(call);
  }
  const bool number_first = !operands[0].call;
  const std::optional<double> number = number_of(operands[number_first ? 0 : 1].constant);
  if (!number) {
    return combined_by_channel(call, numbers_of(operands[number_first ? 0 : 1].constant), number_first);
  }
  const double c = *number;
  if (kind == "Maximum" || kind == "Minimum") return convert_function(call);
  double scale = 1, offset = 0;
  if (kind == "Add") offset = c;
  if (kind == "Subtract") std::tie(scale, offset) = number_first ? std::pair(-1.0, c) : std::pair(1.0, -c);
  if (kind == "Multiply") scale = c;
  if (kind == "Divide" || kind == "TrueDivide") {
    if (number_first) return convert_function(call);
    scale = 1 / c;
  }
  return rescaled(call, call.input(), scale, offset, "");
}

Value convert_clip(const Call& call) {
  const auto bound = [&](const char* key) { return fmt::format("{}", call.config().number(key)); };
  const Value above = elementwise(call, "maximum", {"x", bound("x_min")}, {call.input()}, "least");
  return elementwise(call, "minimum", {"x", bound("x_max")}, {above});
}

// Booleans are 1 and 0 in any type.
Value convert_cast(const Call& call) {
  std::string type = call.config().text("dtype", "");
  for (const Argument& argument : call.arguments()) {
    if (argument.keyword == "dtype" && argument.constant.is_string()) type = argument.constant;
  }
  const Value& x = call.inputs().at(0);
  if (type == "bool") return elementwise(call, "where", {"x", "1", "0"}, {x});
  if (type.find("float") == std::string::npos) {
    throw Error(fmt::format("makes numbers of type \"{}\"", one_line(type)),
                "Convoke's networks compute in float32: leave the cast out");
  }
  return x;
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
    LayerClass{"Add", convert_arithmetic},      LayerClass{"Cast", convert_cast},
    LayerClass{"Clip", convert_clip},           LayerClass{"Concatenate", convert_concatenate},
    LayerClass{"Divide", convert_arithmetic},   LayerClass{"Elu", convert_plain},
    LayerClass{"Gelu", convert_gelu},           LayerClass{"GetItem", convert_get_item},
    LayerClass{"HardSigmoid", convert_named},   LayerClass{"HardSilu", convert_named},
    LayerClass{"HardTanh", convert_named},      LayerClass{"LeakyRelu", convert_plain},
    LayerClass{"LogSigmoid", convert_named},    LayerClass{"Maximum", convert_arithmetic},
    LayerClass{"Minimum", convert_arithmetic},  LayerClass{"Multiply", convert_arithmetic},
    LayerClass{"Relu", convert_named},          LayerClass{"Relu6", convert_named},
    LayerClass{"Selu", convert_named},          LayerClass{"Sigmoid", convert_named},
    LayerClass{"Silu", convert_named},          LayerClass{"Softmax", convert_softmax},
    LayerClass{"Softplus", convert_named},      LayerClass{"Stack", convert_stack},
    LayerClass{"Subtract", convert_arithmetic}, LayerClass{"Tanh", convert_named},
    LayerClass{"TanhShrink", convert_named},    LayerClass{"TrueDivide", convert_arithmetic},
};

/// Returns what converts a function of keras.ops, or null.
auto find_operation(std::string_view name) -> decltype(LayerClass::convert) {
  if (const LayerClass* found = find_named(kOperations, name)) return found->convert;
  return find_named(element_functions(), name, &ElementFunction::keras) == nullptr ? nullptr
                                                                                   : convert_function;
}

std::vector<std::string> operation_names() {
  std::set<std::string> names;
  for (const LayerClass& entry : kOperations) names.emplace(entry.name);
  for (const ElementFunction& entry : element_functions()) names.emplace(entry.keras);
  return {names.begin(), names.end()};
}

/// TensorFlow's functions with the names that keras.ops has for them.
using TensorFlowFunction = Named<std::string_view>;
constexpr std::array kTensorFlowFunctions{
    TensorFlowFunction{"__operators__.add", "Add"},
    TensorFlowFunction{"__operators__.getitem", "GetItem"},
    TensorFlowFunction{"cast", "Cast"},
    TensorFlowFunction{"math.add", "Add"},
    TensorFlowFunction{"math.multiply", "Multiply"},
    TensorFlowFunction{"math.sigmoid", "Sigmoid"},
    TensorFlowFunction{"math.tanh", "Tanh"},
    TensorFlowFunction{"nn.bias_add", "Add"},
    TensorFlowFunction{"nn.relu", "Relu"},
    TensorFlowFunction{"nn.relu6", "Relu6"},
    TensorFlowFunction{"nn.silu", "Silu"},
    TensorFlowFunction{"stack", "Stack"},
};

}  // namespace

Value elementwise(const Call& call, std::string_view function, Setting::Array operands,
                  const std::vector<Value>& inputs, std::string_view suffix) {
  return call.add({{"layer", "elementwise"}, {"function", function}, {"operands", std::move(operands)}},
                  inputs, suffix);
}

bool is_operation(const std::string& name, const std::vector<Argument>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), is_number) ||
         (find_operation(name) != nullptr && !is_layer_class(name));
}

Value convert_operation(const Call& call) {
  const auto convert = find_operation(call.options().class_name);
  if (convert != nullptr) return convert(call);
  throw Error("is a function of keras.ops that cannot be converted",
              fmt::format("use a layer in its place; supported are {}", join(operation_names())));
}

Value convert_tensorflow(const Call& call) {
  const std::string name = call.config().text("function");
  const TensorFlowFunction* function = find_named(kTensorFlowFunctions, name);
  const ElementFunction* elementwise = find_named(element_functions(), name, &ElementFunction::tensorflow);
  if (function == nullptr && elementwise == nullptr) {
    throw Error(fmt::format("calls TensorFlow's function {}, which cannot be converted", one_line(name)),
                "save the model again with Keras layers in place of TensorFlow functions");
  }
  Call::Options options = call.options();
  options.class_name = elementwise != nullptr ? elementwise->keras : function->value;
  options.is_operation = true;
  return convert_operation(
      Call(call.context(), call.config().json(), std::move(options), call.inputs(), call.arguments()));
}

}  // namespace convoke::interop::keras
