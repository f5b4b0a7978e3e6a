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

/// Whether `name` fits `pattern`, in which `*` stands for any text.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace convoke::nn
