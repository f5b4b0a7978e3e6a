#pragma once
#include <span>
#include <string>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// Freezes the parameters of the nodes that `patterns` name: a node's name, in which `*` stands for any text
/// ("conv2d_*"), or "backbone" for all but the last node that has parameters: the head. Frozen batch norms
/// normalise by their running statistics. Throws Error for a pattern that names no node with parameters of
/// its own.
void freeze(Graph& graph, std::span<const std::string> patterns);

/// Whether `name` fits `pattern`, in which `*` stands for any text.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace convoke::nn
