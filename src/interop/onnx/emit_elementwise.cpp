#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "convoke/core/table.hpp"
#include "interop/onnx/emission.hpp"

namespace convoke::interop::onnx_export {
namespace {

struct Function {
  std::string_view name, op;
  bool truth = false;  ///< ONNX gives truth values
};
constexpr std::array kFunctions{
    Function{"abs", "Abs"},
    Function{"ceil", "Ceil"},
    Function{"cos", "Cos"},
    Function{"divide", "Div"},
    Function{"equal", "Equal", true},
    Function{"erf", "Erf"},
    Function{"exp", "Exp"},
    Function{"floor", "Floor"},
    Function{"greater", "Greater", true},
    Function{"greater_equal", "GreaterOrEqual", true},
    Function{"log", "Log"},
    Function{"maximum", "Max"},
    Function{"minimum", "Min"},
    Function{"power", "Pow"},
    Function{"round", "Round"},
    Function{"sign", "Sign"},
    Function{"sin", "Sin"},
    Function{"sqrt", "Sqrt"},
    Function{"subtract", "Sub"},
    Function{"where", "Where"},
};

constexpr std::int64_t kFloat = 1, kInt32 = 6, kBool = 9;

std::string cast(Emission& e, const std::string& value, std::int64_t type) {
  return e.op("Cast", {value}, {{"to", type}});
}

// Tokens are compared with whole numbers as whole numbers.
std::vector<std::string> operands_of(Emission& e, bool truth) {
  std::vector<std::string> operands = e.settings.texts("operands");
  if (operands.empty()) operands.assign(e.input_count(), "x");
  const bool tokens = e.input_shape(0).type == nn::ValueType::kToken;
  const bool whole = truth && std::ranges::all_of(operands, [](const std::string& operand) {
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
  const Function& function = find_in(kFunctions, e.settings.text("function"), "function");
  std::vector<std::string> operands = operands_of(e, function.truth);
  if (function.name == "where") operands[0] = cast(e, operands[0], kBool);
  if (!function.truth) return e.result(function.op, operands);
  e.result("Cast", {e.op(function.op, operands)}, {{"to", kFloat}});
}

}  // namespace convoke::interop::onnx_export
