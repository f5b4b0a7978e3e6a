#include "convoke/nn/layers/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "nn/kernels/functions.hpp"
#include "nn/kernels/pieces.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

constexpr std::string_view kInputOperand = "x";  // an operand that is an input, in settings

std::optional<double> operand_of(const SettingsReader& read, const std::string& text) {
  if (text == kInputOperand) return std::nullopt;
  const std::optional<double> number = parse_number<double>(text);
  if (!number || std::isnan(*number)) {
    read.fail(fmt::format("\"operands\" holds \"{}\"", text), "each is \"x\", the next input, or a number");
  }
  return number;
}

void read_operands(SettingsReader& read, const KeyFacts& key, ElementwiseOptions& options) {
  for (const std::string& text : read.get(key.name, std::vector<std::string>{}))
    options.operands.push_back(operand_of(read, text));
}

std::optional<Value> write_operands(const KeyFacts&, const ElementwiseOptions& options) {
  Value::Array list;
  bool numbers = false;
  for (const std::optional<double>& operand : options.operands) {
    list.emplace_back(operand ? fmt::format("{}", *operand) : std::string(kInputOperand));
    numbers = numbers || operand;
  }
  return numbers ? std::optional<Value>(std::move(list)) : std::nullopt;
}

/// The operands of a function in a plan.
struct Places {
  std::array<Tensor, Function::kMostOperands> tensors;
  std::array<float, Function::kMostOperands> numbers = {};

  template <class T>
  FunctionOperands<T> at(const Frame& frame) const {
    FunctionOperands<T> operands{.values = {}, .numbers = numbers};
    for (std::size_t i = 0; i < tensors.size(); ++i) operands.values[i] = frame.at<T>(tensors[i]);
    return operands;
  }
  std::vector<Ref> uses(std::initializer_list<Ref> others) const {
    std::vector<Ref> uses = others;
    for (const Tensor& tensor : tensors) uses.push_back(tensor.ref);
    return uses;
  }
};

}  // namespace

Elementwise::Elementwise(ElementwiseOptions options)
    : KeyedLayer(keys(), std::move(options)), function_(find_in(functions(), options_.function, "function")) {
  std::vector<std::optional<double>>& operands = options_.operands;
  if (operands.empty()) operands.resize(function_.operands);
  if (operands.size() == function_.operands) return;
  throw Error(fmt::format("the function \"{}\" has {} operands, not {}", function_.name, function_.operands,
                          operands.size()),
              "\"operands\" has \"x\" or a number for each");
}

Shape Elementwise::output_shape(std::span<const ValueSpec> inputs) const {
  const auto& operands = options_.operands;
  const auto wanted = static_cast<std::size_t>(std::count(operands.begin(), operands.end(), std::nullopt));
  if (inputs.size() != wanted) {
    throw Error(fmt::format("the function \"{}\" needs {} inputs here, but has {}", function_.name, wanted,
                            inputs.size()),
                "name as many `inputs` as `operands` that are \"x\"");
  }
  for (const ValueSpec& input : inputs) {
    if (input != inputs[0]) {
      throw Error(
          fmt::format("its inputs have different shapes, {} and {}", inputs[0].describe(), input.describe()),
          "give all one shape, for example by reshape and resize");
    }
    if (input.type == ValueType::kToken && wanted > 1) {
      throw Error("compares tokens with other tokens", "compare them with a number");
    }
  }
  return inputs[0];
}

Elementwise::Keys Elementwise::keys() {
  static constexpr std::array kKeys{
      key<&ElementwiseOptions::function>({.name = "function",
                                          .names = [] { return names_in(functions()); },
                                          .required = true,
                                          .help = "computed for each element"}),
      Key<ElementwiseOptions>{{.name = "operands",
                               .fallback = "all \"x\"",
                               .help = "for each operand \"x\", the next of `inputs`, or a number",
                               .type = "list of texts"},
                              read_operands,
                              write_operands}};
  return kKeys;
}

void Elementwise::compile(PlanBuilder& plan, const Node& node) const {
  const bool tokens = plan.graph().node(node.inputs[0]).shape.type == ValueType::kToken;
  std::vector<Tensor> inputs;
  if (tokens) {
    inputs = {plan.value_as(node.inputs[0], kFloat, node)};
  } else {
    inputs = plan.values_alike(node);
  }
  ChannelBlocks blocks;
  inputs[0] = plan.blocked(inputs[0], node, blocks);
  Places places;
  for (std::size_t i = 0, next = 0; i < options_.operands.size(); ++i) {
    if (options_.operands[i]) {
      places.numbers[i] = static_cast<float>(*options_.operands[i]);
    } else {
      places.tensors[i] = plan.reordered(inputs[next++], inputs[0].desc, node);
    }
  }
  const Function* function = &function_;  // in a table: it outlives the plan
  const Tensor y = plan.allocate(inputs[0].desc);
  const std::size_t count = elements_of(y.desc);
  plan.add_typed_kernel(
      y.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        apply(*function, places.at<T>(frame), frame.at<T>(y), count);
        clear_padding(blocks, frame.at<T>(y));
      },
      places.uses({y.ref}), y);
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, operands = options_.operands, &plan, &node](const Tensor& dy) {
    for (std::size_t i = 0, next = 0; i < operands.size(); ++i) {
      if (operands[i]) continue;
      const std::size_t from = node.inputs[next++];
      if (!plan.needs_gradient(from)) continue;
      const Tensor dx = next == node.inputs.size() ? plan.in_place_of(dy) : plan.allocate(dy.desc);
      plan.add_typed_kernel(
          dy.desc, node, "backward",
          [=]<class T>(const Frame& frame) {
            apply_backward(*function, i, places.at<T>(frame), frame.at<T>(dy), frame.at<T>(dx), count);
            clear_padding(blocks, frame.at<T>(dx));
          },
          places.uses({dy.ref, dx.ref}), dx);
      plan.add_gradient(from, dx, node);
    }
  });
}

}  // namespace convoke::nn
