#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "convoke/core/error.hpp"
#include "interop/element_functions.hpp"
#include "interop/keras/layers.hpp"
#include "interop/keras/operations.hpp"

// Functions of keras.ops that are those of our elementwise layer.

namespace convoke::interop::keras {
Value convert_function(const Call& call) {
  call.config().require_neutral("decimals", 0);
  const ElementFunction& named = *find_element_function(&ElementFunction::keras, call.options().class_name);
  std::vector<Value> inputs;
  using Setting = convoke::Value;
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
    for (Value& x : inputs) {
      x = call.add(
          {{"layer", "elementwise"}, {"function", "where"}, {"operands", Setting::Array{"x", "1", "0"}}}, x,
          "truth");
    }
  }
  return call.add({{"layer", "elementwise"}, {"function", named.name}, {"operands", std::move(operands)}},
                  inputs);
}

}  // namespace convoke::interop::keras
