#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// Nodes that learn at a rate of their own (in the literature on fine-tuning: discriminative rates; Howard
/// and Ruder, "Universal language model fine-tuning", 2018).
struct RateGroup {
  std::vector<std::string> nodes;  ///< patterns, as of nn::freeze()
  double factor = 1;               ///< times the learning rate of the step, > 0

  /// Reads { nodes = ["layer4*"], learning_rate_factor = 0.1 }. Throws Error for a factor that is not above
  /// 0.
  static RateGroup read(const Settings& settings);
  Settings settings() const;
  /// The keys of such a table.
  static std::vector<OptionTable> tables();
};

/// Sets ParameterOptions::rate_factor of the nodes that the groups name; where two name the same, the later
/// one counts. Throws Error for a pattern that names no node with parameters.
void apply(std::span<const RateGroup> groups, Graph& graph);

}  // namespace convoke::nn
