#include "interop/onnx/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/nn/layer_table.hpp"

namespace convoke::interop::onnx {

const Known* Import::find(const std::string& name) const {
  const auto it = values.find(name);
  return it == values.end() ? nullptr : &it->second;
}

void Import::give(std::size_t node, std::string_view parameter, const Constant& constant) {
  if (constant.converted) builder.note("Weights that are not float32 are converted to it.");
  const nn::Node& own = builder.graph().node(node);
  for (const nn::ParameterSpec& spec : own.parameters) {
    if (spec.name != parameter || spec.shape.elements() == constant.shape.elements()) continue;
    throw Error(fmt::format("{}: its {} is {}, but the file has {}", own.name, parameter,
                            spec.shape.to_string(), constant.shape.to_string()),
                "the file's weights do not fit its input");
  }
  builder.give(node, parameter, ModelBuilder::Fill([constant](std::span<float> out) { constant.fill(out); }));
}

bool Import::is_learned(std::size_t node) {
  for (std::size_t i = learned_.size(); i <= node; ++i) {
    const nn::Node& now = builder.graph().node(i);
    learned_.push_back(!now.parameters.empty() ||
                       std::any_of(now.inputs.begin(), now.inputs.end(),
                                   [&](std::size_t before) { return learned_[before]; }));
  }
  return learned_[node];
}

void Import::count_numbers(std::int64_t numbers) {
  if (computed_ == 0) {
    constexpr std::int64_t kFree = 1 << 22;  // 16 MB
    computed_ = -kFree;
    for (const auto& [name, constant] : source.constants()) computed_ -= 4 * constant.shape.elements();
  }
  computed_ += numbers;
  if (computed_ <= 0) return;
  throw Error("computes more constants than Convoke keeps",
              "simplify the model: onnxslim or onnxsim compute its constants");
}

const Known& Call::value(std::size_t input) const {
  if (!has(input)) refuse(fmt::format("lacks its input {}", input));
  const Known* value = import_.find(node_.inputs[input]);
  if (value == nullptr) {
    refuse(fmt::format("needs the value \"{}\", an output that Convoke does not compute",
                       one_line(node_.inputs[input])));
  }
  return *value;
}

bool Call::is_constant(std::size_t input) const { return std::holds_alternative<Constant>(value(input)); }

const View& Call::view(std::size_t input) const {
  const View* view = std::get_if<View>(&value(input));
  if (view == nullptr) {
    refuse(fmt::format("its input \"{}\" is constant, but must depend on the sample",
                       one_line(node_.inputs[input])));
  }
  return *view;
}

const Constant& Call::constant(std::size_t input, std::string_view what) const {
  const Constant* constant = std::get_if<Constant>(&value(input));
  if (constant == nullptr) {
    refuse(fmt::format("its {} depends on the sample, but Convoke needs a constant", what),
           "export the model with fixed sizes, and with its weights as initializers");
  }
  return *constant;
}

std::vector<std::int64_t> Call::numbers(std::size_t input, std::string_view what) const {
  const Constant& from = constant(input, what);
  std::vector<std::int64_t> list;
  if (!from.is_numbers()) refuse(fmt::format("its {} are not whole numbers", what));
  for (const Dim dim : from.numbers) {
    if (dim.batch) refuse(fmt::format("its {} depends on the size of the batch", what));
    list.push_back(dim.value);
  }
  return list;
}

std::vector<Dim> Call::shape(std::size_t input) const {
  const Constant& given = constant(input, "shape");
  if (!given.is_numbers()) refuse("has a shape that is not whole numbers");
  return given.numbers;
}

void Call::expect_shape(std::size_t input, const std::vector<Dim>& wanted) const {
  if (!has(input)) return;
  const Constant& shape = constant(input, "shape");
  bool same = shape.is_numbers() && shape.numbers.size() == wanted.size();
  for (std::size_t i = 0; i < wanted.size() && same; ++i) {
    const Dim given = shape.numbers[i], open{-1}, copied{0};
    const bool batch =
        wanted[i].batch && (given == copied || given == Dim{wanted[i].value * import_.input.batch});
    same = wanted[i] == open || given == wanted[i] || given == open || batch;
  }
  if (same) return;
  refuse(fmt::format("stands for nodes that reshape to {} where Convoke expects {}", to_string(shape.numbers),
                     to_string(wanted)),
         "export the model with operators instead of formulas, in a newer opset");
}

std::optional<std::vector<std::int64_t>> Call::list(const std::string& attribute, std::size_t input) const {
  if (has_attribute(attribute)) return integers(attribute);
  if (has(input)) return numbers(input, attribute);
  return std::nullopt;
}

std::size_t Call::axis(std::int64_t axis, std::size_t rank) const {
  const auto axes = static_cast<std::int64_t>(rank);
  const std::int64_t counted = axis < 0 ? axis + axes : axis;
  if (counted < 0 || counted >= axes) refuse(fmt::format("has no axis {} of {}", axis, rank));
  return static_cast<std::size_t>(counted);
}

std::vector<std::size_t> Call::axes(const std::vector<std::int64_t>& list, std::size_t rank) const {
  std::vector<std::size_t> all;
  std::vector<bool> named(rank, false);
  for (const std::int64_t one : list) {
    all.push_back(axis(one, rank));
    if (named[all.back()]) refuse(fmt::format("names the axis {} twice", one));
    named[all.back()] = true;
  }
  return all;
}

std::string module_of(std::string_view weight) {
  constexpr std::array kEndings{".weight", ".bias", ".running_mean", ".running_var",
                                ".gamma",  ".beta", ".weight_v"};
  if (weight.find_first_of(":/ ") != std::string_view::npos) return {};
  for (const std::string_view ending : kEndings) {
    if (weight.ends_with(ending)) return std::string(weight.substr(0, weight.size() - ending.size()));
  }
  return {};
}

std::string module_of_node(std::string_view node, std::string_view op) {
  std::vector<std::string_view> parts;
  while (!node.empty()) {
    const std::size_t slash = std::min(node.find('/'), node.size());
    if (slash > 0) parts.push_back(node.substr(0, slash));
    node.remove_prefix(std::min(slash + 1, node.size()));
  }
  // The last part is the operator, if there is a module before it.
  if (parts.size() > 1 && parts.back().starts_with(op)) parts.pop_back();
  std::string name;
  std::string_view before;
  for (const std::string_view part : parts) {
    // In a Sequential, PyTorch repeats the names of the modules around it.
    const bool repeats = !before.empty() && part.starts_with(before) && part.size() > before.size() &&
                         part[before.size()] == '.';
    name += repeats ? part.substr(before.size()) : (name.empty() ? "" : ".") + std::string(part);
    before = part;
  }
  return name;
}

std::size_t Call::add(const Settings& layer, std::vector<std::size_t> inputs, const Constant* weights) {
  std::string name = weights == nullptr ? std::string() : module_of(weights->name);
  if (name.empty()) name = module_of_node(node_.name, node_.op);
  return builder().add(layer, std::move(inputs), one_line(name));
}

std::size_t Call::add_weighted(const Settings& layer, std::vector<std::size_t> inputs, const Constant& weight,
                               const std::optional<Constant>& bias) {
  const std::string key = bias ? weight.name + "\n" + bias->name : weight.name;
  const bool named = !weight.name.empty() && (!bias || !bias->name.empty());
  const auto [begin, end] = import_.owners.equal_range(named ? key : "");
  const auto owner = std::find_if(begin, end, [&](const auto& entry) {
    return graph().node(entry.second.node).layer->settings() == nn::make_layer(layer)->settings() &&
           entry.second.weight.floats() == weight.floats();  // not transposed, for example
  });
  if (owner != end) return builder().share(owner->second.node, std::move(inputs));
  const std::size_t node = add(layer, std::move(inputs), &weight);
  import_.give(node, "weight", weight);
  if (bias) import_.give(node, "bias", *bias);
  if (named) import_.owners.insert({key, {node, weight}});
  return node;
}

View Call::elementwise(const View& view, const Settings& layer) {
  return view.with_node(add(layer, {view.node}));
}

void Call::give(Known value, std::size_t output) {
  if (const View* view = std::get_if<View>(&value); view != nullptr && view->rank() > View::kMostAxes) {
    refuse(fmt::format("gives a value with {} axes", view->rank()));
  }
  if (output < node_.outputs.size() && !node_.outputs[output].empty()) {
    import_.values.insert_or_assign(node_.outputs[output], std::move(value));
  }
}

bool Call::wants(std::size_t output) const {
  return output < node_.outputs.size() && !node_.outputs[output].empty() &&
         (!import_.source.consumers(node_.outputs[output]).empty() ||
          import_.source.is_output(node_.outputs[output]));
}

namespace {

/// Returns the place of the axis after a node that only reorders axes; none if it does anything else.
std::optional<std::size_t> axis_after(const NodeProto& node, std::size_t axis) {
  if (node.op == "Identity" || node.op == "Cast") return axis;
  const Attribute* order = find_attribute(node, "perm");
  if (node.op != "Transpose" || order == nullptr) return std::nullopt;
  const auto it = std::find(order->integers.begin(), order->integers.end(), static_cast<std::int64_t>(axis));
  if (it == order->integers.end()) return std::nullopt;
  return static_cast<std::size_t>(it - order->integers.begin());
}

}  // namespace

std::optional<Constant> Call::following_bias(std::size_t axis, std::int64_t count) {
  const std::size_t rank = view(0).rank();
  std::string value = node_.outputs.at(0);
  for (int steps = 0; steps < 4; ++steps) {
    const std::vector<std::size_t>& readers = import_.source.consumers(value);
    if (readers.size() != 1 || import_.source.is_output(value)) return std::nullopt;
    const NodeProto& next = import_.source.nodes()[readers[0]];
    if (next.op == "Add" && next.domain.empty() && next.inputs.size() == 2) {
      const std::string& other = next.inputs[next.inputs[0] == value ? 1 : 0];
      const Constant* constant = import_.source.constant(other);
      if (constant == nullptr || constant->whole || constant->shape.elements() != count) return std::nullopt;
      const std::size_t axes = constant->shape.rank();
      if (axes > rank || axes < rank - axis || constant->shape[axis + axes - rank] != count)
        return std::nullopt;
      import_.absorbed.insert(&next);
      return constant->reshaped({count});
    }
    const std::optional<std::size_t> after = axis_after(next, axis);
    if (!after || next.outputs.size() != 1) return std::nullopt;
    axis = *after;
    value = next.outputs[0];
  }
  return std::nullopt;
}

void Call::refuse(const std::string& why, std::string hint) const {
  throw Error(fmt::format("{}: {}", describe(node_), why), std::move(hint));
}

}  // namespace convoke::interop::onnx
