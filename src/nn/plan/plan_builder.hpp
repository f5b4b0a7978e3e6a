#pragma once
#include "nn/plan/plan_parameters.hpp"

namespace convoke::nn {

/// Collects a plan while the layers of a graph compile themselves into it. Its parts are what a layer uses:
/// the graph and the options (plan_source.hpp), memory (plan_memory.hpp), steps (plan_steps.hpp), values and
/// gradients (plan_values.hpp) and parameters (plan_parameters.hpp). Without a layout it is a dry run, from
/// which ParameterLayout learns the layouts that the primitives prefer.
class PlanBuilder final : public PlanParameters {
 public:
  PlanBuilder(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options);

  /// Compiles all layers, forward then backward. Called once.
  CompiledPlan compile();

 private:
  void refuse_dead_ends() const;
  void find_head();
  void compile_forward();
  void compile_backward();

  std::size_t head_ = 0;        ///< the node whose value the loss reads
  std::size_t activation_ = 0;  ///< the node that is part of the loss, or the last
};

/// Compiles a graph.
inline CompiledPlan compile(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options) {
  return PlanBuilder(graph, layout, options).compile();
}

/// Adds the step dy = y > 0 ? dy : 0 to the backward list, in place where possible. Returns the result.
Tensor relu_gradient(PlanBuilder& plan, const Node& node, const Tensor& y, const Tensor& dy);

}  // namespace convoke::nn
