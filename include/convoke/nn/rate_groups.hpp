#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// Nodes that have their own learning rate. The literature on fine-tuning calls such rates discriminative:
/// Howard and Ruder, "Universal language model fine-tuning", 2018.
struct RateGroup {
  std::vector<std::string> nodes;  ///< patterns, as for nn::freeze()
  double factor = 1;               ///< the learning rate of the step is multiplied by it, > 0

  /// Reads { nodes = ["layer4*"], learning_rate_factor = 0.1 }. Throws Error if the factor is not above 0.
  static RateGroup read(const Settings& settings);
  Settings settings() const;
  /// Returns the keys of such a table.
  static std::vector<OptionTable> tables();
};

/// Sets ParameterOptions::rate_factor of the nodes that the groups name. If two groups name the same node,
/// the later one counts. Throws Error if a pattern names no node with parameters.
void apply(std::span<const RateGroup> groups, Graph& graph);

}  // namespace convoke::nn
