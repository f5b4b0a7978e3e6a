#pragma once
#include <string>
#include <vector>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// The node with which the head of the zoo model `name` begins ("classifier.0"): from there on the network is
/// what its paper puts on top of the features. Throws Error if there is no such model.
std::string zoo_head(const std::string& name);

/// The last node of each block of the zoo model `name`, whose graph is `graph`, in order: of each residual
/// block, inverted residual, fire module, inception module, ...; of plain networks, each stage that a pooling
/// ends. What stands before the first block (the stem) and between two blocks is none. Empty if the model has
/// none. Throws Error if there is no such model.
std::vector<std::string> zoo_blocks(const std::string& name, const Graph& graph);

/// `patterns` for nn::freeze() in which the words that only the zoo can explain are written out: "backbone"
/// becomes "before:<the head's first node>", and "blocks:3" (the first three blocks, with all that stands
/// before the end of the third) "before:<the next node that has parameters>". `zoo`: the model's name; empty
/// for a network of one's own, of which "backbone" stays as it is. Throws Error if the model has no or fewer
/// blocks.
std::vector<std::string> resolve_parts(const std::string& zoo, const Graph& graph,
                                       std::vector<std::string> patterns);

}  // namespace convoke::nn
