#include "convoke/nn/layers/elementwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/nn/layer_reader.hpp"
#include "nn/kernels/functions.hpp"
#include "nn/kernels/pieces.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

constexpr std::string_view kInput = "x";  // an operand that is an input, in settings

std::optional<double> operand_of(const LayerReader& read, const std::string& text) {
  if (text == kInput) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || std::isnan(number)) {
    read.fail(fmt::format("\"operands\" holds \"{}\"", text), "each is \"x\", the next input, or a number");
  }
  return number;
}

/// The operands of a function in a plan.
struct Places {
  std::array<Tensor, Function::kMostOperands> tensors;
  std::array<float, Function::kMostOperands> numbers = {};

  template <class T>
  FunctionOperands<T> at(const Frame& frame) const {
    FunctionOperands<T> operands{.values = {}, .numbers = numbers};
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i]) operands.values[i] = frame.at<T>(tensors[i]);
    }
    return operands;
  }
  std::vector<Ref> uses(std::initializer_list<Ref> others) const {
    std::vector<Ref> uses = others;
    for (const Tensor& tensor : tensors) {
      if (tensor) uses.push_back(tensor.ref);
    }
    return uses;
  }
};

}  // namespace

Elementwise::Elementwise(ElementwiseOptions options)
    : function_(find_in(functions(), options.function, "function")), operands_(std::move(options.operands)) {
  if (operands_.empty()) operands_.resize(function_.operands);
  if (operands_.size() == function_.operands) return;
  throw Error(fmt::format("the function \"{}\" has {} operands, not {}", function_.name, function_.operands,
                          operands_.size()),
              "\"operands\" has \"x\" or a number for each");
}

Shape Elementwise::output_shape(std::span<const ValueSpec> inputs) const {
  const auto wanted = static_cast<std::size_t>(std::count(operands_.begin(), operands_.end(), std::nullopt));
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

Settings Elementwise::settings() const {
  Settings settings{{"layer", "elementwise"}, {"function", function_.name}};
  Value::Array list;
  for (const std::optional<double>& operand : operands_) {
    list.emplace_back(operand ? fmt::format("{}", *operand) : std::string(kInput));
  }
  const bool numbers = std::any_of(operands_.begin(), operands_.end(), [](const auto& o) { return !!o; });
  if (numbers) settings.set("operands", list);
  return settings;
}

LayerPtr Elementwise::make(LayerReader& read) {
  std::vector<std::string_view> names;
  for (const Function& function : functions()) names.push_back(function.name);
  ElementwiseOptions o;
  o.function = read.choice("function", "", names, "computed for each element");
  for (const std::string& text : read.texts(
           "operands", "for each operand \"x\", the next of `inputs`, or a number; default: all \"x\"")) {
    o.operands.push_back(operand_of(read, text));
  }
  if (o.function.empty()) o.function = names.front();  // a description
  return read.at([&] { return std::make_shared<Elementwise>(std::move(o)); });
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
  for (std::size_t i = 0, next = 0; i < operands_.size(); ++i) {
    if (operands_[i]) {
      places.numbers[i] = static_cast<float>(*operands_[i]);
    } else {
      places.tensors[i] = plan.reordered(inputs[next++], inputs[0].desc, node);
    }
  }
  const Function* function = &function_;  // in a table: it outlives the plan
  const Tensor y = plan.allocate(inputs[0].desc);
  const std::size_t count = elements_of(y.desc);
  with_stored_type(y.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, "forward",
        [=](const Frame& frame) {
          apply(*function, places.at<T>(frame), frame.at<T>(y), count);
          clear_padding(blocks, frame.at<T>(y));
        },
        places.uses({y.ref}), y);
  });
  plan.set_value(node.index, y);
  if (!plan.training()) return;
  plan.on_backward([=, operands = operands_, &plan, &node] {
    const Tensor dy = plan.gradient_like_value(node.index, node);
    if (!dy) return;
    for (std::size_t i = 0, next = 0; i < operands.size(); ++i) {
      if (operands[i]) continue;
      const std::size_t from = node.inputs[next++];
      if (!plan.needs_gradient(from)) continue;
      const Tensor dx = next == node.inputs.size() ? plan.in_place_of(dy) : plan.allocate(dy.desc);
      with_stored_type(dy.desc, [&](auto zero) {
        using T = decltype(zero);
        plan.add_kernel(
            node, "backward",
            [=](const Frame& frame) {
              apply_backward(*function, i, places.at<T>(frame), frame.at<T>(dy), frame.at<T>(dx), count);
              clear_padding(blocks, frame.at<T>(dx));
            },
            places.uses({dy.ref, dx.ref}), dx);
      });
      plan.add_gradient(from, dx, node);
    }
  });
}

Symbol elementwise(std::string_view function, const std::vector<Symbol>& inputs,
                   std::vector<std::optional<double>> operands) {
  std::vector<std::size_t> nodes;
  for (const Symbol& symbol : inputs) nodes.push_back(symbol.node);
  Graph* graph = inputs.front().graph;
  return {graph, graph->add(std::make_shared<Elementwise>(
                                ElementwiseOptions{std::string(function), std::move(operands)}),
                            std::move(nodes))};
}

}  // namespace convoke::nn
