#include "convoke/nn/rate_groups.hpp"

#include <cmath>

#include "convoke/nn/freeze.hpp"

namespace convoke::nn {

RateGroup RateGroup::read(const Settings& settings) {
  SettingsReader read(settings, "train.groups");
  read.require_value("nodes");
  read.require_value("learning_rate_factor");
  RateGroup group;
  group.nodes = read.get("nodes", group.nodes);
  group.factor = read.get("learning_rate_factor", group.factor);
  if (group.factor == 0)
    read.fail("\"learning_rate_factor\" is 0", "use model.freeze, which costs no backward");
  read.check("learning_rate_factor", group.factor > 0 && std::isfinite(group.factor), "a number above 0");
  read.finish();
  return group;
}

Settings RateGroup::settings() const {
  return {{"nodes", Value::Array(nodes.begin(), nodes.end())}, {"learning_rate_factor", factor}};
}

void apply(std::span<const RateGroup> groups, Graph& graph) {
  for (const RateGroup& group : groups) {
    for (const std::string& pattern : group.nodes) {
      for (const std::size_t index : named_nodes(graph, pattern, "train.groups")) {
        ParameterOptions options = graph.node(index).options;
        options.rate_factor = group.factor;
        graph.set_options(index, options);
      }
    }
  }
}

}  // namespace convoke::nn
