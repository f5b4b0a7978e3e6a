#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "interop/element_functions.hpp"
#include "interop/onnx/emission.hpp"

namespace convoke::interop::onnx_export {
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
