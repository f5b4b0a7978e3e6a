#pragma once
#include "nn/plan/fusion.hpp"

/// Returns the names of the nodes that are fused into others.
inline std::vector<std::string> absorbed(const convoke::nn::Graph& graph, bool post_ops = false) {
  std::vector<std::string> names;
  const std::vector<convoke::nn::Fusion> fusions = fuse(graph, post_ops);
  for (const convoke::nn::Node& node : graph.nodes()) {
    if (fusions[node.index].absorbed) names.push_back(node.name);
  }
  return names;
}
