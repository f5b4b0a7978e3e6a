#include "convoke/nn/freeze.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/keys.hpp"
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
  std::vector<std::string> names;  // names of the nodes with parameters
  for (const Node& node : graph.nodes()) {
    if (!node.parameters.empty()) names.push_back(node.name);
  }
  std::size_t end =
      pattern.starts_with(kBefore) ? graph.find(pattern.substr(kBefore.size())) : graph.nodes().size();
  // The parameters of a layer with an activation belong to the node NAME.dense, for example, before NAME.
  if (end > 0 && end < graph.nodes().size()) {
    const std::string within = graph.node(end).name + ".";
    while (graph.node(end - 1).name.starts_with(within)) --end;
  }
  const bool whole = std::ranges::any_of(names, [&](const auto& name) { return matches(pattern, name); });
  const std::string wanted = whole ? pattern : pattern + ".*";
  std::vector<std::size_t> nodes;
  for (const std::string& name : names) {
    const std::size_t index = graph.find(name);
    const bool named = pattern == "backbone"        ? name != names.back()
                       : end < graph.nodes().size() ? index < end
                                                    : matches(wanted, name);
    if (named) nodes.push_back(index);
  }
  if (!nodes.empty()) return nodes;
  if (pattern == "backbone")
    throw Error(fmt::format("{}: there is no backbone before the only node with parameters", what),
                "freeze it by its name: " + join(names));
  throw Error(end < graph.nodes().size()
                  ? fmt::format("{}: no node before \"{}\" has parameters", what, graph.node(end).name)
                  : fmt::format("{}: no node with parameters is called \"{}\"{}", what, pattern,
                                did_you_mean(pattern, names)),
              "nodes with parameters: " + join(names) + "; or \"backbone\" for all but the last");
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
    throw Error(fmt::format("unfreeze: \"{}\" names no frozen node", pattern),
                "freeze it first (model.freeze), or remove it here");
  }
}

bool is_settled(const Graph& graph, const Node& node) {
  const std::vector<ParameterSpec>& specs = graph.owner(node).parameters;
  return std::all_of(specs.begin(), specs.end(), [](const ParameterSpec& spec) {
    return spec.frozen || (spec.statistic() && spec.momentum == 1);
  });
}

std::vector<bool> inference_nodes(const Graph& graph) {
  const std::size_t count = graph.nodes().size();
  std::vector<bool> settled(count, true), behind_frozen(count, false), inference(count, false);
  for (const Node& node : graph.nodes()) {
    if (node.layer == nullptr) continue;
    const LayerTraits traits = node.layer->traits();
    const Node& owner = graph.owner(node);
    const bool frozen = traits.is_frozen || (!owner.parameters.empty() && !owner.options.trainable);
    bool all_settled = is_settled(graph, node), any_behind = frozen;
    for (const std::size_t from : node.inputs) {
      all_settled = all_settled && settled[from];
      any_behind = any_behind || behind_frozen[from];
    }
    settled[node.index] = all_settled;
    behind_frozen[node.index] = any_behind;
    inference[node.index] = all_settled && (frozen || (traits.ends_branch && any_behind));
  }
  for (std::size_t i = count; i-- > 0;) {
    if (!inference[i]) continue;
    for (const std::size_t from : graph.node(i).inputs) inference[from] = true;
  }
  return inference;
}

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
