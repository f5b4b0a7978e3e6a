#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nn/plan/plan_memory.hpp"

namespace convoke::nn {

/// The part of the PlanBuilder that collects steps: in the forward list while the layers compile, then in the
/// backward list.
class PlanSteps : public PlanMemory {
 public:
  void add_primitive(const Node& node, std::string what, const dnnl::primitive& primitive,
                     const std::string& implementation, std::vector<std::pair<int, Tensor>> arguments,
                     const Desc& scratchpad, double flops = 0, std::vector<std::size_t> completes = {});
  void add_kernel(const Node& node, std::string what, std::function<void(const Frame&)> kernel,
                  std::vector<Ref> uses, Tensor output, double flops = 0,
                  std::vector<std::size_t> completes = {}, std::string implementation = "convoke");
  /// Adds a kernel that is written once for both types: kernel.operator()<T>(frame), where T is the type of
  /// `desc`, float or Bf16.
  template <class Kernel>
  void add_typed_kernel(const Desc& desc, const Node& node, std::string what, const Kernel& kernel,
                        std::vector<Ref> uses, Tensor output, double flops = 0,
                        std::vector<std::size_t> completes = {}, std::string implementation = "convoke") {
    with_stored_type(desc, [&](auto zero) {
      add_kernel(
          node, std::move(what),
          [kernel](const Frame& frame) { kernel.template operator()<decltype(zero)>(frame); },
          std::move(uses), output, flops, std::move(completes), std::move(implementation));
    });
  }
  /// Offers to compute the `value` of a forward step again in backward: `kernel` writes the same bits there
  /// from the memory `uses`. The offer is used if that saves much memory (recomputation.hpp).
  void offer_recomputation(const Node& node, std::string what, std::function<void(const Frame&)> kernel,
                           std::vector<Ref> uses, Tensor value);
  /// Ends a segment after the step that was added last. Before the next step, the caller of the plan replaces
  /// these `count` doubles by their sums over all plans of the batch. `count` must not depend on the plan's
  /// samples.
  void exchange(Ref moments, std::size_t count);
  /// The functions are called in reverse order of registration when the forward list is complete, and add the
  /// backward steps.
  void on_backward(std::function<void()> emit) { backward_makers_.push_back(std::move(emit)); }

 protected:
  PlanSteps(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options);

  /// Calls the functions of on_backward.
  void make_backward();
  /// Returns the steps that layers offer, and forgets them.
  std::vector<Step> take_offers() { return std::exchange(offers_, {}); }
  /// Returns the memory for the gradient of a slot, whose place in the arena is `arena`. The first use of
  /// shared parameters gets that place. Later uses get separate memory, which lives from the first step that
  /// may write it, and is added to the arena when a step completes it. The last use completes the parameter.
  Tensor gradient_place(std::size_t slot, const Tensor& arena);

 private:
  /// The state of a slot's gradient.
  struct SharedGradient {
    std::size_t uses = 0;  ///< nodes that have given their gradient
    Tensor separate;       ///< memory of the current node, if it does not write to the arena
  };

  void add_step(Step step);
  std::vector<Step> complete_gradients(Step& step);

  std::vector<std::size_t> uses_;                ///< by node: how many nodes share its parameters
  std::map<std::size_t, SharedGradient> given_;  ///< by slot
  std::vector<std::function<void()>> backward_makers_;
  std::vector<Step> offers_;
  bool in_backward_ = false;
};

}  // namespace convoke::nn
