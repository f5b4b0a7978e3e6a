#include "convoke/nn/rate_groups.hpp"

#include <array>

#include "convoke/core/keys.hpp"
#include "convoke/nn/freeze.hpp"

namespace convoke::nn {
namespace {

constexpr std::array kGroupKeys{
    key<&RateGroup::nodes>(
        {.name = "nodes", .required = true, .help = "the nodes, named as in `model.freeze`"}),
    key<&RateGroup::factor>({.name = "learning_rate_factor",
                             .range = {.above = 0},
                             .required = true,
                             .help = "factor on their learning rate; to use 0, freeze the nodes"}),
};

}  // namespace

RateGroup RateGroup::read(const Settings& settings) {
  SettingsReader read(settings, "train.groups");
  const Value* const factor = read.find("learning_rate_factor");
  if (factor != nullptr && (*factor == Value(0) || *factor == Value(0.0)))
    read.fail("\"learning_rate_factor\" is 0", "use model.freeze, which needs no backward pass");
  RateGroup group;
  read_keys(kGroupKeys, read, group);
  read.finish();
  return group;
}

Settings RateGroup::settings() const {
  Settings settings;
  write_keys(kGroupKeys, *this, settings);
  return settings;
}

std::vector<OptionTable> RateGroup::tables() { return {{"", describe_keys(kGroupKeys)}}; }

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
