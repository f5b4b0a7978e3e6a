#include "convoke/nn/plan/memory.hpp"

#include "nn/plan/arena.hpp"
#include "nn/plan/parameter_descriptors.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

std::size_t predict_activation_bytes(const Graph& graph, const ParameterLayout& layout,
                                     const PlanOptions& options) {
  const CompiledPlan plan = compile(graph, &layout, options);
  return place_buffers(plan).bytes + plan.scratchpad_bytes;
}

std::size_t predict_working_bytes(const ParameterLayout& layout) {
  return layout.descriptors().working_bytes;
}

}  // namespace convoke::nn
