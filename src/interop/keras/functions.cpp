#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "interop/keras/layers.hpp"

// Functions of keras.ops that are those of our elementwise layer.

namespace convoke::interop::keras {
namespace {

using Setting = convoke::Value;

struct Named {
  std::string_view name, function;
  bool swapped = false;                           ///< its operands have the other order
  std::optional<double> before = {}, after = {};  ///< operands that it does not have
  bool negated = false;                           ///< it is 1 where ours is 0
};
constexpr std::array kNamed{
    Named{"Abs", "abs"},
    Named{"Absolute", "abs"},
    Named{"Ceil", "ceil"},
    Named{"Cos", "cos"},
    Named{"Divide", "divide"},
    Named{"Equal", "equal"},
    Named{"Erf", "erf"},
    Named{"Exp", "exp"},
    Named{"Floor", "floor"},
    Named{"Greater", "greater"},
    Named{"GreaterEqual", "greater_equal"},
    Named{"Less", "greater", true},
    Named{"LessEqual", "greater_equal", true},
    Named{"Log", "log"},
    Named{"LogicalAnd", "minimum"},
    Named{"LogicalNot", "equal", false, {}, 0},
    Named{"LogicalOr", "maximum"},
    Named{"Maximum", "maximum"},
    Named{"Minimum", "minimum"},
    Named{"Negative", "subtract", false, 0},
    Named{"NotEqual", "equal", false, {}, {}, true},
    Named{"Power", "power"},
    Named{"Reciprocal", "divide", false, 1},
    Named{"Round", "round"},
    Named{"Rsqrt", "power", false, {}, -0.5},
    Named{"Sign", "sign"},
    Named{"Sin", "sin"},
    Named{"Sqrt", "sqrt"},
    Named{"Square", "power", false, {}, 2},
    Named{"TrueDivide", "divide"},
    Named{"Where", "where"},
};

bool names_operand(const Argument& argument) {
  static constexpr std::array<std::string_view, 6> kNames{"", "condition", "x", "x1", "x2", "y"};
  return argument.call || std::find(kNames.begin(), kNames.end(), argument.keyword) != kNames.end();
}

// A number, also as NumPy's: {"class_name": "__numpy__", "config": {"value": 0.4}}.
double number_in(const Json& constant) {
  const Json& value = constant.is_object() ? member(member(constant, "config"), "value") : constant;
  if (!value.is_number()) {
    throw Error("combines a tensor with something that is neither a tensor nor a number",
                "use a Rescaling or Normalization layer");
  }
  return value.get<double>();
}

}  // namespace

Value convert_function(const Call& call) {
  const Named& named = find_in(kNamed, call.options().class_name, "function");
  std::vector<Value> inputs;
  Setting::Array operands;
  const auto add_number = [&](double number) { operands.emplace_back(fmt::format("{}", number)); };
  if (named.before) add_number(*named.before);
  for (const Argument& argument : call.arguments()) {
    if (!names_operand(argument)) continue;
    if (argument.call) {
      operands.emplace_back("x");
      inputs.push_back(call.inputs()[*argument.call]);
    } else {
      add_number(number_in(argument.constant));
    }
  }
  if (named.after) add_number(*named.after);
  if (named.swapped) {
    std::reverse(operands.begin(), operands.end());
    std::reverse(inputs.begin(), inputs.end());
  }
  inputs = broadcast(call, std::move(inputs));
  const Value result =
      call.add({{"layer", "elementwise"}, {"function", named.function}, {"operands", std::move(operands)}},
               inputs, named.negated ? "equal" : "");
  if (!named.negated) return result;
  return call.add({{"layer", "elementwise"}, {"function", "equal"}, {"operands", Setting::Array{"x", "0"}}},
                  result);
}

}  // namespace convoke::interop::keras
