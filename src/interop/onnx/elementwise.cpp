#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "interop/onnx/broadcast.hpp"
#include "interop/onnx/operators.hpp"
#include "interop/plain_layers.hpp"

namespace convoke::interop::onnx {
namespace {

/// An operand: a value, or a number.
using Operand = std::variant<View, double>;

/// Returns the numbers of a constant as a value over the samples of `like`: where(0, x, 0) + constant.
View filled(Call& call, const View& like, const Constant& constant) {
  const View zeros = call.elementwise(
      like, {{"layer", "elementwise"}, {"function", "where"}, {"operands", Value::Array{"0", "x", "0"}}});
  const View result = shifted_by(call, zeros, constant);
  call.builder().freeze(result.node);
  return result;
}

Operand operand_of(Call& call, std::size_t input, const View& like) {
  if (!call.is_constant(input)) return call.view(input);
  const Constant& constant = call.constant(input, "operand");
  const bool widens = broadcast(call, like.dims(), constant.dims()) != like.dims();
  if (widens || !constant.uniform()) return filled(call, like, constant);
  if (std::isnan(*constant.uniform())) call.refuse("computes with a constant that is not a number");
  return static_cast<double>(*constant.uniform());
}

View computed(Call& call, std::string_view function, const std::vector<Operand>& operands) {
  Value::Array list;
  std::vector<View> views;
  for (const Operand& operand : operands) {
    const double* number = std::get_if<double>(&operand);
    list.emplace_back(number == nullptr ? "x" : fmt::format("{}", *number));
    if (number == nullptr) views.push_back(std::get<View>(operand));
  }
  Aligned inputs = aligned(call, broadcast_all(call, views));
  const Settings layer{{"layer", "elementwise"}, {"function", function}, {"operands", std::move(list)}};
  return inputs.view.with_node(call.add(layer, std::move(inputs.nodes)));
}

}  // namespace

void convert_function(Call& call) {
  const ElementFunction& named = *find_element_function(&ElementFunction::onnx, call.node().op);
  std::size_t first = 0;
  while (call.is_constant(first)) ++first;  // operators with constants alone are folded
  const View like = call.view(first);
  std::vector<Operand> operands;
  if (named.form.before) operands.emplace_back(*named.form.before);
  for (std::size_t i = 0; i < call.inputs(); ++i) operands.push_back(operand_of(call, i, like));
  if (named.form.after) operands.emplace_back(*named.form.after);
  if (named.form.swapped) std::reverse(operands.begin(), operands.end());
  const bool any_number = call.node().op == "Max" || call.node().op == "Min";  // of inputs
  while (any_number && operands.size() > 2) {
    const Operand pair = computed(call, named.name, {operands[0], operands[1]});
    operands.erase(operands.begin());
    operands.front() = pair;
  }
  call.give(operands.size() == 1 && any_number ? std::get<View>(operands[0])
                                               : computed(call, named.name, operands));
}

bool is_boolean(const Source& source, const std::string& value) {
  constexpr std::array<std::string_view, 9> kKept{"Cast",    "Expand",  "Flatten",   "Gather",   "Identity",
                                                  "Reshape", "Squeeze", "Transpose", "Unsqueeze"};
  const NodeProto* node = source.producer(value);
  if (node == nullptr || node->inputs.empty()) return false;
  const ElementFunction* function = find_element_function(&ElementFunction::onnx, node->op);
  if (function != nullptr) return function->form.boolean;
  const bool kept = std::find(kKept.begin(), kKept.end(), node->op) != kKept.end();
  return kept && is_boolean(source, node->inputs[0]);
}

View boolean_of(Call& call, const View& x) { return computed(call, "where", {x, 1.0, 0.0}); }

}  // namespace convoke::interop::onnx
