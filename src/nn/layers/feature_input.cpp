#include "nn/layers/feature_input.hpp"

#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

void FeatureInput::compile(PlanBuilder& plan, const Node& node) const {
  PlanOptions options = plan.options();
  options.training = options.working_weights = false;  // forward decides about values
  PlanBuilder rehearsal(*whole_, nullptr, options);
  rehearsal.compile();
  const Desc wanted = rehearsal.value(last_).desc;
  const Dims dims = dims_of(wanted);
  Tensor x = plan.value(node.inputs[0]);
  // A flattened image keeps its four dims in a plan.
  if (dims.size() == 4 && dims_of(x.desc).size() == 2) {
    x.desc = plan.plain_desc(Shape{dims[1], dims[2], dims[3]}, type_of(x.desc));
  }
  plan.set_value(node.index, plan.reordered(x, wanted, node));
}

}  // namespace convoke::nn
