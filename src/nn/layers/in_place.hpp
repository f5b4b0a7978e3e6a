#pragma once
#include <vector>

#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

/// Registers the backward step of a layer that computes each element of dx from the same element of dy and
/// from the memory `reads`: kernel(frame, const T* dy, T* dx), where T is the stored type of values. dx
/// overwrites dy if no other step reads dy.
template <class Kernel>
void on_backward_in_place(PlanBuilder& plan, const Node& node, std::vector<Ref> reads, const Kernel& kernel) {
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    const std::size_t from = node.inputs[0];
    const Tensor dx = plan.in_place_of(dy);
    std::vector<Ref> uses = reads;
    uses.insert(uses.end(), {dy.ref, dx.ref});
    plan.add_typed_kernel(
        dy.desc, node, "backward",
        [=]<class T>(const Frame& frame) {
          kernel(frame, static_cast<const T*>(frame.at<T>(dy)), frame.at<T>(dx));
        },
        std::move(uses), dx);
    plan.add_gradient(from, dx, node);
  });
}

}  // namespace convoke::nn
