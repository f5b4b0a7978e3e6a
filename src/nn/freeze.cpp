#include "convoke/nn/freeze.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::nn {

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() != '*')
    return !name.empty() && pattern.front() == name.front() && matches(pattern.substr(1), name.substr(1));
  return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
}

std::vector<std::size_t> named_nodes(const Graph& graph, const std::string& pattern, std::string_view what) {
  constexpr std::string_view kBefore = "before:";
  std::vector<std::string> names;  // of those with parameters
  for (const Node& node : graph.nodes()) {
    if (!node.parameters.empty()) names.push_back(node.name);
  }
  const std::size_t end =
      pattern.starts_with(kBefore) ? graph.find(pattern.substr(kBefore.size())) : graph.nodes().size();
  std::vector<std::size_t> nodes;
  for (const std::string& name : names) {
    const std::size_t index = graph.find(name);
    const bool named = pattern == "backbone"        ? name != names.back()
                       : end < graph.nodes().size() ? index < end
                                                    : matches(pattern, name);
    if (named) nodes.push_back(index);
  }
  if (!nodes.empty()) return nodes;
  throw Error(end < graph.nodes().size()
                  ? fmt::format("{}: no node before \"{}\" has parameters", what, graph.node(end).name)
                  : fmt::format("{}: no node with parameters is called \"{}\"{}", what, pattern,
                                did_you_mean(pattern, names)),
              "those that have some: " + join(names) + "; or \"backbone\" for all but the last");
}

void freeze(Graph& graph, std::span<const std::string> patterns) {
  for (const std::string& pattern : patterns) {
    for (const std::size_t index : named_nodes(graph, pattern, "freeze")) {
      ParameterOptions options = graph.node(index).options;
      options.trainable = false;
      graph.set_options(index, options);
    }
  }
}

void unfreeze(Graph& graph, std::span<const std::string> patterns, std::int64_t frozen_steps) {
  for (const std::string& pattern : patterns) {
    bool found = false;
    for (const std::size_t index : named_nodes(graph, pattern, "unfreeze")) {
      ParameterOptions options = graph.node(index).options;
      if (options.trainable) continue;
      options.trainable = found = true;
      options.frozen_steps = frozen_steps;
      graph.set_options(index, options);
    }
    if (found) continue;
    throw Error(fmt::format("unfreeze: nothing that \"{}\" names is frozen", pattern),
                "freeze it first (model.freeze), or take it out");
  }
}

}  // namespace convoke::nn
