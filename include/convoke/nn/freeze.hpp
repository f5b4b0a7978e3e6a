#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/nn/graph.hpp"

// Settings by the names of nodes: frozen parameters, and learning rates of groups.
namespace convoke::nn {

/// Freezes the parameters of the nodes that `patterns` name. A pattern is a node's name, in which `*` stands
/// for any text ("conv2d_*"), or that of a layer whose nodes are NAME.dense and so on; "before:NAME" for all
/// nodes before the node NAME, in the order of Graph::summary(); or "backbone" for all but the last node that
/// has parameters, which is the head (for a zoo model see resolve_parts()). Frozen batch norms normalize by
/// their running statistics. Throws Error if a pattern names no node that owns parameters.
void freeze(Graph& graph, std::span<const std::string> patterns);

/// Unfreezes the nodes that the same patterns name, after `frozen_steps` training steps
/// (ParameterOptions::frozen_steps). Nodes that are not frozen stay as they are. Throws Error if a pattern
/// names no frozen node.
void unfreeze(Graph& graph, std::span<const std::string> patterns, std::int64_t frozen_steps = 0);

/// Returns the nodes that `pattern` names (see freeze()) and that own parameters, in order. Throws Error,
/// with a message that begins with `what`, if there are none.
std::vector<std::size_t> named_nodes(const Graph& graph, const std::string& pattern, std::string_view what);

/// Tells for each node whether training runs it as prediction does: dropout, noise and stochastic depth pass
/// their input through, and batch norm uses its running statistics. This holds for frozen nodes with only
/// frozen nodes before them, and for the nodes before such a node, as in Keras' guide to transfer learning,
/// which calls a frozen base model with training = False. Dropout after the last frozen weights belongs to
/// the head and stays active; stochastic depth belongs to the block before it.
std::vector<bool> inference_nodes(const Graph& graph);

/// True if training does not change the parameters of `node`, its own or shared: all are frozen, or are
/// statistics of a batch norm that never move. True for a node without parameters.
bool is_settled(const Graph& graph, const Node& node);

/// True if `name` matches `pattern`, in which `*` stands for any text.
bool matches(std::string_view pattern, std::string_view name);

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
