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

void freeze(Graph& graph, std::span<const std::string> patterns) {
  std::vector<std::string> names;  // of what can be frozen
  for (const Node& node : graph.nodes()) {
    if (!node.parameters.empty()) names.push_back(node.name);
  }
  for (const std::string& pattern : patterns) {
    bool found = false;
    for (const std::string& name : names) {
      const bool head = name == names.back();
      if (pattern == "backbone" ? head : !matches(pattern, name)) continue;
      const std::size_t index = graph.find(name);
      ParameterOptions options = graph.node(index).options;
      options.trainable = false;
      graph.set_options(index, options);
      found = true;
    }
    if (found) continue;
    throw Error(fmt::format("freeze: no node with parameters is called \"{}\"{}", pattern,
                            did_you_mean(pattern, names)),
                "those that have some: " + join(names) + "; or \"backbone\" for all but the last");
  }
}

}  // namespace convoke::nn
