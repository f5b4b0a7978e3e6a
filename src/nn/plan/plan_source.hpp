#pragma once
#include <vector>

#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/network.hpp"
#include "nn/plan/compiled_plan.hpp"
#include "nn/plan/fusion.hpp"

namespace convoke::nn {

/// The first part of the PlanBuilder: what is compiled, the graph and the options.
class PlanSource {
 public:
  const Graph& graph() const { return graph_; }
  const PlanOptions& options() const { return options_; }
  bool training() const { return options_.training; }
  /// The same for one node: a frozen backbone runs as in prediction (freeze.hpp).
  bool training(const Node& node) const { return training() && !inference_[node.index]; }
  const Loss& loss() const { return options_.loss != nullptr ? *options_.loss : *default_loss(); }
  std::int64_t samples() const { return options_.micro_batch * options_.micro_batches; }
  const Fusion& fusion(const Node& node) const { return fusions_[node.index]; }
  /// True if this node's value is the network's output, or the input of its last softmax or sigmoid. Such a
  /// value must be fp32, whatever the loss.
  bool feeds_loss(const Node& node) const;
  /// Returns the dims of a node's value: (N, F), (N, C, H, W); a sequence (L, F) is stored as an image
  /// (N, F, 1, L).
  Dims batched(const Shape& shape) const;
  /// Returns the row-major layout of a node's value, as callers and files see it; a sequence is (N, L, F).
  Desc plain_desc(const Shape& shape, Type type) const;
  /// Returns the stored type of values: fp32, or bf16 with that precision. A layer without a bf16 form reads
  /// value_as(node, kFloat) and leaves an fp32 value, which its readers convert.
  Type stored() const { return options_.precision == Precision::kBfloat16 ? kBf16 : kFloat; }

 protected:
  PlanSource(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options);
  ~PlanSource() = default;

  const Graph& graph_;
  const ParameterLayout* layout_;  ///< null in a dry run
  PlanOptions options_;
  CompiledPlan plan_;  ///< what the parts of the PlanBuilder have added so far

 private:
  std::vector<Fusion> fusions_;
  std::vector<bool> inference_;  ///< by node, inference_nodes()
};

}  // namespace convoke::nn
