#include "interop/onnx/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::interop::onnx {
namespace {

constexpr std::size_t kMostDepth = 16;          // of functions that call functions
constexpr std::size_t kMostNodes = 20000;       // after functions are inlined
constexpr std::size_t kMostNames = 16u << 20U;  // bytes of names in functions, as often as they are called

[[noreturn]] void refuse_size(const std::string& what) {
  throw Error(what,
              "Convoke imports networks of a few thousand nodes: simplify the model, or export it without "
              "unrolled loops");
}

/// Puts the bodies of functions in place of their calls.
class Inliner {
 public:
  explicit Inliner(const std::vector<FunctionProto>& functions) {
    for (const FunctionProto& function : functions) {
      const std::string domain = function.domain == "ai.onnx" ? "" : function.domain;
      functions_[{domain, function.name}] = &function;
    }
  }

  void add(const NodeProto& node, std::size_t depth) {
    const auto function = functions_.find({node.domain, node.op});
    if (function == functions_.end()) {
      if (nodes.size() == kMostNodes) refuse_size("its functions expand to too many nodes");
      nodes.push_back(node);
      return;
    }
    if (depth == kMostDepth) {
      throw Error(fmt::format("{}: its functions call each other too deep", describe(node)),
                  "inline the functions: onnx.inliner.inline_local_functions(model)");
    }
    expand(*function->second, node, depth);
  }

  std::vector<NodeProto> nodes;

 private:
  void expand(const FunctionProto& function, const NodeProto& call, std::size_t depth) {
    std::map<std::string, std::string> names;  // inside -> outside
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      names[function.inputs[i]] = i < call.inputs.size() ? call.inputs[i] : "";
    }
    for (std::size_t i = 0; i < function.outputs.size() && i < call.outputs.size(); ++i) {
      names[function.outputs[i]] = call.outputs[i];
    }
    const std::string prefix = fmt::format("{}#{}/", function.name, ++calls_);
    const auto outside = [&](std::string& name) {
      if (name.empty()) return;
      const auto known = names.find(name);
      name = known != names.end() && !known->second.empty() ? known->second : prefix + name;
    };
    for (NodeProto inner : function.nodes) {
      for (std::string& name : inner.inputs) {
        const auto known = names.find(name);
        if (known != names.end() && known->second.empty()) {
          name.clear();  // an optional input that the call leaves out
        } else {
          outside(name);
        }
      }
      for (std::string& name : inner.outputs) outside(name);
      bytes_ +=
          prefix.size() * (inner.inputs.size() + inner.outputs.size()) + call.name.size() + inner.name.size();
      for (const Attribute& attribute : inner.attributes) {
        bytes_ += attribute.text.size() + attribute.name.size() +
                  8 * (attribute.integers.size() + attribute.numbers.size());
      }
      if (bytes_ > kMostNames) refuse_size("its functions expand to too many names and numbers");
      if (!call.name.empty()) inner.name = call.name + "/" + inner.name;
      bind_attributes(function, call, inner);
      add(inner, depth + 1);
    }
  }

  static void bind_attributes(const FunctionProto& function, const NodeProto& call, NodeProto& inner) {
    std::vector<Attribute> bound;
    for (Attribute& attribute : inner.attributes) {
      if (attribute.refers_to.empty()) {
        bound.push_back(std::move(attribute));
        continue;
      }
      const Attribute* value = find_attribute(call, attribute.refers_to);
      for (const Attribute& fallback : function.defaults) {
        if (value == nullptr && fallback.name == attribute.refers_to) value = &fallback;
      }
      if (value == nullptr) continue;
      const std::string name = attribute.name;
      bound.push_back(*value);
      bound.back().name = name;
    }
    inner.attributes = std::move(bound);
  }

  std::map<std::pair<std::string, std::string>, const FunctionProto*> functions_;
  std::size_t calls_ = 0, bytes_ = 0;
};

}  // namespace

std::optional<Constant> constant_of(const NodeProto& node, const std::filesystem::path& folder) {
  for (const Attribute& a : node.attributes) {
    if (a.name == "value" && a.tensor) return make_constant(*a.tensor, folder);
    if (a.name == "value_float") return Constant::of_floats({}, {a.number});
    if (a.name == "value_int") return Constant::of_numbers({}, {{a.integer}});
    if (a.name == "value_ints") return Constant::of_list(a.integers);
    if (a.name == "value_floats") {
      return Constant::of_floats({static_cast<std::int64_t>(a.numbers.size())}, a.numbers);
    }
  }
  return std::nullopt;
}

const Attribute* find_attribute(const NodeProto& node, const std::string& name) {
  const auto it = std::find_if(node.attributes.begin(), node.attributes.end(),
                               [&](const Attribute& attribute) { return attribute.name == name; });
  return it == node.attributes.end() ? nullptr : &*it;
}

std::string describe(const NodeProto& node) {
  const std::string op = (node.domain.empty() ? "" : node.domain + ".") + node.op;
  std::string name = node.name;
  const auto given = std::ranges::find_if_not(node.outputs, &std::string::empty);
  if (name.empty() && given != node.outputs.end()) name = "that gives " + *given;
  return fmt::format("node \"{}\" ({})", shortened(one_line(name), 120), shortened(one_line(op), 60));
}

Source::Source(ModelProto model, const std::filesystem::path& folder) : model_(std::move(model)) {
  if (model_.nodes.size() > kMostNodes) {
    refuse_size(fmt::format("has {} nodes; Convoke reads at most {}", model_.nodes.size(), kMostNodes));
  }
  inline_functions();
  for (const TensorProto& tensor : model_.initializers) {
    constants_[tensor.name] = make_constant(tensor, folder);
  }
  for (const NodeProto& node : model_.nodes) {
    if (node.op != "Constant" || !node.domain.empty() || node.outputs.size() != 1) continue;
    if (auto value = constant_of(node, folder)) constants_[node.outputs[0]] = std::move(*value);
  }
  // Exporters store equal tensors once, and name the others by Identity.
  for (const NodeProto& node : model_.nodes) {
    if (node.op != "Identity" || node.inputs.size() != 1 || node.outputs.size() != 1) continue;
    if (const Constant* same = constant(node.inputs[0])) {
      Constant renamed = *same;
      renamed.name = node.outputs[0];
      constants_[node.outputs[0]] = std::move(renamed);
    }
  }
  capture();
  index();
}

// Values that a branch reads, and that none of its nodes gives, come from outside.
void Source::capture() {
  for (NodeProto& node : model_.nodes) {
    if (node.op != "If" || node.inputs.empty()) continue;
    const Constant* condition = constant(node.inputs[0]);
    const bool yes = condition != nullptr && condition->scalar().value_or(0) != 0;
    for (const Attribute& attribute : node.attributes) {
      const bool taken = condition == nullptr || attribute.name == (yes ? "then_branch" : "else_branch");
      if (attribute.graph.empty() || !taken) continue;
      const ModelProto branch = parse_graph(attribute.graph);
      std::set<std::string> inside{""};
      for (const TensorProto& tensor : branch.initializers) inside.insert(tensor.name);
      for (const NodeProto& inner : branch.nodes) inside.insert(inner.outputs.begin(), inner.outputs.end());
      const auto add = [&](const std::string& name) {
        if (!inside.contains(name)) node.captured.push_back(name);
      };
      for (const NodeProto& inner : branch.nodes)
        std::for_each(inner.inputs.begin(), inner.inputs.end(), add);
      for (const ValueInfo& output : branch.outputs) add(output.name);
    }
  }
}

void Source::inline_functions() {
  if (model_.functions.empty()) return;
  Inliner inliner(model_.functions);
  for (const NodeProto& node : model_.nodes) inliner.add(node, 0);
  model_.nodes = std::move(inliner.nodes);
}

void Source::index() {
  producers_.clear();
  consumers_.clear();
  for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
    const NodeProto& node = model_.nodes[i];
    for (const std::string& name : node.outputs) {
      if (name.empty()) continue;
      if (!producers_.emplace(name, i).second) {
        throw Error(
            fmt::format("{}: another node gives its output \"{}\" too", describe(node), one_line(name)),
            "the file is damaged: export the model again");
      }
    }
    for (const auto* names : {&node.inputs, &node.captured}) {
      for (const std::string& name : *names) {
        if (!name.empty()) consumers_[name].push_back(i);
      }
    }
  }
}

void Source::keep(const std::vector<std::size_t>& nodes, const std::string& output) {
  std::vector<bool> needed(model_.nodes.size(), false);
  for (const std::size_t node : nodes) needed[node] = true;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) model_.nodes[i] = {};
  }
  model_.outputs = {ValueInfo{.name = output, .type = 0, .has_shape = false, .dims = {}}};
  index();
}

const Constant* Source::constant(const std::string& value) const {
  const auto it = constants_.find(value);
  return it == constants_.end() ? nullptr : &it->second;
}

void Source::set_constant(const std::string& value, Constant constant) {
  constants_[value] = std::move(constant);
}

const NodeProto* Source::producer(const std::string& value) const {
  if (constant(value) != nullptr) return nullptr;
  const auto it = producers_.find(value);
  return it == producers_.end() ? nullptr : &model_.nodes[it->second];
}

const std::vector<std::size_t>& Source::consumers(const std::string& value) const {
  static const std::vector<std::size_t> kNone;
  const auto it = consumers_.find(value);
  return it == consumers_.end() ? kNone : it->second;
}

bool Source::is_output(const std::string& value) const {
  return std::any_of(model_.outputs.begin(), model_.outputs.end(),
                     [&](const ValueInfo& output) { return output.name == value; });
}

std::vector<std::size_t> Source::order(const std::string& output) const {
  enum class State : unsigned char { kNew, kOpen, kDone };
  std::vector<State> state(model_.nodes.size(), State::kNew);
  std::vector<std::size_t> order;
  std::set<std::string> inputs;
  for (const ValueInfo& input : model_.inputs) inputs.insert(input.name);

  std::vector<std::pair<std::size_t, std::size_t>> open;  // node, its next input
  const auto visit = [&](const std::string& value) {
    if (value.empty() || inputs.contains(value) || constant(value) != nullptr) return;
    const auto producer = producers_.find(value);
    if (producer == producers_.end()) {
      throw Error(fmt::format("no node gives the value \"{}\", which another needs", one_line(value)),
                  "the file is damaged: export the model again");
    }
    const std::size_t node = producer->second;
    if (state[node] == State::kDone) return;
    if (state[node] == State::kOpen) {
      throw Error(
          fmt::format("{}: needs its own output: the graph has a cycle", describe(model_.nodes[node])),
          "the file is damaged: export the model again");
    }
    state[node] = State::kOpen;
    open.emplace_back(node, 0);
  };
  visit(output);
  while (!open.empty()) {
    const auto [node, next] = open.back();
    const std::vector<std::string>&inputs_of = model_.nodes[node].inputs,
          &captured = model_.nodes[node].captured;
    if (next < inputs_of.size() + captured.size()) {
      ++open.back().second;
      visit(next < inputs_of.size() ? inputs_of[next] : captured[next - inputs_of.size()]);
      continue;
    }
    state[node] = State::kDone;
    order.push_back(node);
    open.pop_back();
  }
  return order;
}

}  // namespace convoke::interop::onnx
