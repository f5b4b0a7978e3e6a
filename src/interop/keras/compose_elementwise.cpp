#include <array>
#include <cstdlib>

#include "convoke/core/table.hpp"
#include "interop/keras/composition.hpp"

namespace convoke::interop::keras_export {
namespace {

struct Function {
  std::string_view name, class_name, tensorflow;
  bool truth = false;  ///< Keras gives truth values
  std::string_view module = "keras.src.ops.numpy";
};
constexpr std::array kFunctions{
    Function{"abs", "Absolute", "math.abs"},
    Function{"ceil", "Ceil", "math.ceil"},
    Function{"cos", "Cos", "math.cos"},
    Function{"divide", "TrueDivide", "math.truediv"},
    Function{"equal", "Equal", "math.equal", true},
    Function{"erf", "Erf", "math.erf", false, "keras.src.ops.math"},
    Function{"exp", "Exp", "math.exp"},
    Function{"floor", "Floor", "math.floor"},
    Function{"greater", "Greater", "math.greater", true},
    Function{"greater_equal", "GreaterEqual", "math.greater_equal", true},
    Function{"log", "Log", "math.log"},
    Function{"maximum", "Maximum", "math.maximum"},
    Function{"minimum", "Minimum", "math.minimum"},
    Function{"power", "Power", "math.pow"},
    Function{"round", "Round", "math.round"},
    Function{"sign", "Sign", "math.sign"},
    Function{"sin", "Sin", "math.sin"},
    Function{"sqrt", "Sqrt", "math.sqrt"},
    Function{"subtract", "Subtract", "math.subtract"},
    Function{"where", "Where", "where"},
};

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
  const Function& function = find_in(kFunctions, c.settings.text("function"), "function");
  const bool where = function.name == "where";
  KerasFunction made{.module = std::string(function.module),
                     .class_name = std::string(function.class_name),
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
  const KerasTensor result = c.function(function.truth ? "truth" : "", std::move(made), inputs, c.output());
  return function.truth ? cast(c, "", result, "float32") : result;
}

}  // namespace convoke::interop::keras_export
