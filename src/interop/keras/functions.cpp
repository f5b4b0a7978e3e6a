#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "interop/keras/layers.hpp"
#include "interop/keras/operations.hpp"

// Functions of keras.ops that are those of our elementwise layer.

namespace convoke::interop::keras {
namespace {

using Setting = convoke::Value;

struct Named {
  std::string_view name, function;
  bool swapped = false;                           ///< its operands have the other order
  std::optional<double> before = {}, after = {};  ///< operands that it does not have
  bool of_truth = false;                          ///< operands other than 0 are 1
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
    Named{"LogicalAnd", "minimum", false, {}, {}, true},
    Named{"LogicalNot", "equal", false, {}, 0},
    Named{"LogicalOr", "maximum", false, {}, {}, true},
    Named{"Negative", "subtract", false, 0},
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

}  // namespace

Value convert_function(const Call& call) {
  call.config().require_neutral("decimals", 0);
  const Named& named = find_in(kNamed, call.options().class_name, "function");
  std::vector<Value> inputs;
  Setting::Array operands;
  const auto add_number = [&](double number) { operands.emplace_back(fmt::format("{}", number)); };
  if (named.before) add_number(*named.before);
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
  if (named.after) add_number(*named.after);
  if (named.swapped) {
    std::reverse(operands.begin(), operands.end());
    std::reverse(inputs.begin(), inputs.end());
  }
  inputs = broadcast(call, std::move(inputs));
  if (named.of_truth) {
    for (Value& x : inputs) {
      x = call.add(
          {{"layer", "elementwise"}, {"function", "where"}, {"operands", Setting::Array{"x", "1", "0"}}}, x,
          "truth");
    }
  }
  return call.add({{"layer", "elementwise"}, {"function", named.function}, {"operands", std::move(operands)}},
                  inputs);
}

}  // namespace convoke::interop::keras
