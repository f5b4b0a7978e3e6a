#include <algorithm>

#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

void PlanBuilder::add_primitive(const Node& node, std::string what, const dnnl::primitive& primitive,
                                const std::string& implementation,
                                std::vector<std::pair<int, Tensor>> arguments, const Desc& scratchpad,
                                double flops, std::vector<std::size_t> completes) {
  Step step;
  step.info = {node.name, std::move(what), implementation, flops};
  step.primitive = primitive;
  step.output = arguments.back().second;
  if (scratchpad.get_size() > kSharedScratchBytes) {
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, allocate(scratchpad));
  } else {
    plan_.scratchpad_bytes = std::max(plan_.scratchpad_bytes, scratchpad.get_size());
    step.shares_scratch = true;
  }
  for (const auto& [name, tensor] : arguments) step.uses.push_back(tensor.ref);
  step.arguments = std::move(arguments);
  step.completes = std::move(completes);
  add_step(std::move(step));
}

void PlanBuilder::add_kernel(const Node& node, std::string what, std::function<void(const Frame&)> kernel,
                             std::vector<Ref> uses, Tensor out, double flops,
                             std::vector<std::size_t> completes, std::string implementation) {
  Step step;
  step.info = {node.name, std::move(what), std::move(implementation), flops};
  step.kernel = std::move(kernel);
  step.uses = std::move(uses);
  step.output = std::move(out);
  step.completes = std::move(completes);
  add_step(std::move(step));
}

void PlanBuilder::add_step(Step step) {
  if (!in_backward_) return plan_.forward.push_back(std::move(step));
  std::vector<Step> sums = complete_gradients(step);
  plan_.backward.push_back(std::move(step));
  for (Step& sum : sums) plan_.backward.push_back(std::move(sum));
}

std::vector<Step> PlanBuilder::complete_gradients(Step& step) {
  if (layout_ == nullptr) return {};
  for (const auto& [slot, shared] : given_) {
    if (shared.separate) step.uses.push_back(shared.separate.ref);
  }
  std::vector<std::size_t> final;
  std::vector<Step> sums;
  for (const std::size_t slot : step.completes) {
    const ParameterSlot& place = layout_->slots()[slot];
    SharedGradient& shared = given_[slot];
    const Tensor separate = std::exchange(shared.separate, {});
    if (place.spec.frozen) continue;
    const bool last = ++shared.uses == uses_[place.node];
    if (!separate) {
      if (last) final.push_back(slot);
      continue;
    }
    Step sum;
    sum.info = {step.info.node, "sum of gradients of shared parameters", "convoke", 0};
    const Ref total{Ref::Place::kGradient, place.offset};
    const std::size_t count = elements_of(separate.desc);
    sum.kernel = [=](const Frame& frame) {
      kernels<ElementwiseKernels<float>>().add(frame.at(total), frame.at(separate), frame.at(total), count,
                                               false);
    };
    sum.uses = {separate.ref};
    if (last) sum.completes.push_back(slot);
    sums.push_back(std::move(sum));
  }
  step.completes = std::move(final);
  return sums;
}

void PlanBuilder::offer_recomputation(const Node& node, std::string what,
                                      std::function<void(const Frame&)> kernel, std::vector<Ref> uses,
                                      Tensor value) {
  if (!training()) return;
  Step step;
  step.info = {node.name, std::move(what), "convoke", 0};
  step.kernel = std::move(kernel);
  step.uses = std::move(uses);
  step.output = std::move(value);
  offers_.push_back(std::move(step));
}

void PlanBuilder::exchange(Ref moments, std::size_t count) {
  (in_backward_ ? plan_.backward : plan_.forward).back().moments = {moments, count};
}

void PlanBuilder::changes(Ref memory) {
  (in_backward_ ? plan_.backward : plan_.forward).back().changes.push_back(memory);
}

}  // namespace convoke::nn
