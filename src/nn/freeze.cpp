#include "convoke/nn/freeze.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::nn {

namespace {

void set_trainable(Graph& graph, std::span<const std::string> patterns, bool trainable,
                   std::string_view what) {
  for (const std::string& pattern : patterns) {
    for (const std::size_t index : named_nodes(graph, pattern, what)) {
      ParameterOptions options = graph.node(index).options;
      options.trainable = trainable;
      graph.set_options(index, options);
    }
  }
}

}  // namespace

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
  set_trainable(graph, patterns, false, "freeze");
}

void unfreeze(Graph& graph, std::span<const std::string> patterns) {
  set_trainable(graph, patterns, true, "unfreeze");
}

}  // namespace convoke::nn
