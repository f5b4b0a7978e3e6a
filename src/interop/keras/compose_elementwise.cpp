#include <cstdlib>

#include "interop/element_functions.hpp"
#include "interop/keras/composition.hpp"

namespace convoke::interop::keras_export {
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
