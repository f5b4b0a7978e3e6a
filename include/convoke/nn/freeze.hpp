#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// Freezes the parameters of the nodes that `patterns` name: a node's name, in which `*` stands for any text
/// ("conv2d_*"); "before:NAME" for all that stand before the node NAME, in the order of Graph::summary(); or
/// "backbone" for all but the last node that has parameters: the head (of a zoo model see resolve_parts()).
/// Frozen batch norms normalise by their running statistics. Throws Error for a pattern that names no node
/// with parameters of its own.
void freeze(Graph& graph, std::span<const std::string> patterns);

/// The inverse, for the same patterns, after so many training steps (ParameterOptions::frozen_steps); of what
/// a pattern names, what is not frozen stays as it is. Throws Error if nothing of it is.
void unfreeze(Graph& graph, std::span<const std::string> patterns, std::int64_t frozen_steps = 0);

/// The nodes with parameters of their own that `pattern` names, as above, in order. Throws Error, beginning
/// with `what`, if there is none.
std::vector<std::size_t> named_nodes(const Graph& graph, const std::string& pattern, std::string_view what);

/// For each node whether training runs it as prediction does: dropout, noise and stochastic depth pass
/// through and batch norm takes its running statistics. This holds for frozen nodes with only frozen ones
/// before them, and for what stands before such a node, as Keras' guide to transfer learning calls a frozen
/// base model with training = False. Dropout behind the last frozen weights belongs to the head and stays as
/// it is; stochastic depth belongs to the block before it.
std::vector<bool> inference_nodes(const Graph& graph);

/// Whether the parameters of `node`, its own or shared, stay as they are: all are frozen, or statistics of a
/// batch norm that never move. True without parameters.
bool is_settled(const Graph& graph, const Node& node);

/// Whether `name` fits `pattern`, in which `*` stands for any text.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace convoke::nn
