#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/network.hpp"
#include "nn/channel_blocks.hpp"
#include "nn/plan/compiled_plan.hpp"
#include "nn/plan/fusion.hpp"

namespace convoke::nn {

/// Collects a plan while the layers of a graph compile themselves into it. Without a layout it is a dry run,
/// from which ParameterLayout learns the layouts that the primitives prefer.
class PlanBuilder {
 public:
  PlanBuilder(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options);

  /// Compiles all layers, forward then backward. Called once.
  CompiledPlan compile();

  // The graph to compile, and its options.

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

  // Memory: buffers, which later lie where their uses do not overlap (arena.hpp), and scratch memory.

  Tensor allocate(const Desc& desc);
  Ref allocate_bytes(std::size_t bytes);
  Ref allocate_numbers(std::int64_t count, Type type = kFloat) {
    return allocate_bytes(static_cast<std::size_t>(count) * dnnl::memory::data_type_size(type));
  }
  /// Returns memory for the duration of one step.
  Ref scratch(std::size_t bytes);
  /// Returns memory for the result of a step with the layout of `tensor`: the memory of `tensor`, or other
  /// memory if a later step reads `tensor`.
  Tensor in_place_of(const Tensor& tensor) { return tensor.exclusive ? tensor : allocate(tensor.desc); }

  // Steps: in the forward list while the layers compile, then in the backward list.

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
  /// States that the step that was added last overwrites an earlier value in this memory, which is not its
  /// output.
  void changes(Ref memory);
  /// The functions are called in reverse order of registration when the forward list is complete, and add the
  /// backward steps.
  void on_backward(std::function<void()> emit) { backward_makers_.push_back(std::move(emit)); }

  // Values of the nodes and their gradients. A view (flatten) shares the value of its input.

  Tensor value(std::size_t node) const { return values_[alias_[node]]; }
  /// Returns the value as `type`, converted once for all readers.
  Tensor value_as(std::size_t node, Type type, const Node& reader);
  /// Returns the values of a node's inputs, which have one shape, in one layout and as stored(): the layout
  /// of the first value that is blocked for oneDNN, or else of the first value.
  std::vector<Tensor> values_alike(const Node& node);
  void set_value(std::size_t node, const Tensor& tensor) { values_[alias_[node]] = tensor; }
  void set_alias(std::size_t node, std::size_t of) { alias_[node] = alias_[of]; }
  /// Returns the memory of a value that no later step reads, for the result of a step with its layout.
  Tensor overwrite(const Tensor& tensor);
  /// Returns `tensor` in layout `desc`. If it has another layout, adds a reorder to the list that is being
  /// built.
  Tensor reordered(const Tensor& tensor, const Desc& desc, const Node& node);
  /// Returns `tensor` as `type` in a layout of the same kind.
  Tensor retyped(const Tensor& tensor, Type type, const Node& node);
  /// Returns `tensor` as plain (N, F): row-major, an image channels first.
  Tensor flat(const Tensor& tensor, const Node& node);
  /// Returns `tensor` in a layout that our kernels can read.
  Tensor blocked(const Tensor& tensor, const Node& node, ChannelBlocks& blocks);
  /// Returns a node's value in such a layout, for layers that treat channels differently: each feature of a
  /// flattened image is a separate channel.
  Tensor blocked_by_channel(std::size_t from, const Node& node, ChannelBlocks& blocks);

  /// True if `node` or a node before it needs the gradient of `node`'s output.
  bool needs_gradient(std::size_t node) const { return needs_gradient_[alias_[node]]; }
  /// Returns the sum of the gradients that the readers of a node's value gave; empty if there are none.
  Tensor gradient(std::size_t node) const { return gradients_[alias_[node]]; }
  /// Returns it in the layout of the node's value.
  Tensor gradient_like_value(std::size_t node, const Node& reader);
  void add_gradient(std::size_t node, const Tensor& tensor, const Node& from);
  /// Registers `emit`, which adds the backward steps of a node from the gradient of its value, in the layout
  /// of that value; or of the value of `output`, the last node of a fusion. It is not called if the plan does
  /// not train, or if no reader gave a gradient.
  template <class Emit>
  void on_gradient(std::size_t output, const Node& node, Emit emit) {
    if (!training()) return;
    on_backward([this, output, &node, emit = std::move(emit)] {
      if (const Tensor gradient = gradient_like_value(output, node)) emit(gradient);
    });
  }
  template <class Emit>
  void on_gradient(const Node& node, Emit emit) {
    on_gradient(node.index, node, std::move(emit));
  }
  /// Registers the backward step of a layer that computes each element of dx from the same element of dy and
  /// from the memory `reads`: kernel(frame, const T* dy, T* dx), where T is the stored type of values. dx
  /// overwrites dy if no other step reads dy.
  template <class Kernel>
  void on_backward_in_place(const Node& node, std::vector<Ref> reads, const Kernel& kernel) {
    on_gradient(node, [=, this, &node](const Tensor& dy) {
      const Tensor dx = in_place_of(dy);
      std::vector<Ref> uses = reads;
      uses.insert(uses.end(), {dy.ref, dx.ref});
      add_typed_kernel(
          dy.desc, node, "backward",
          [=]<class T>(const Frame& frame) {
            kernel(frame, static_cast<const T*>(frame.at<T>(dy)), frame.at<T>(dx));
          },
          std::move(uses), dx);
      add_gradient(node.inputs[0], dx, node);
    });
  }

  // Parameters of a node: its own, or those of the node whose layer it shares.

  /// True if any of them is trained. Otherwise their gradients need not be computed; gradient_of then returns
  /// other memory for layers that compute them nevertheless.
  bool trains(const Node& node) const;
  /// Returns how many nodes use them.
  std::size_t uses(const Node& node) const { return uses_[node.parameters_of]; }
  /// Returns a parameter's layout in the arena; empty in a dry run.
  Desc arena_layout(const Node& node, std::string_view parameter) const;
  /// In a dry run, records the layout that the primitive prefers.
  void prefer(const Node& node, std::string_view parameter, const Desc& desc);
  Tensor parameter(const Node& node, std::string_view parameter) const;
  /// Returns the memory to which a backward step writes the whole gradient of a parameter. The first use of
  /// shared parameters writes to the arena. Later uses write to separate memory, which lives from the first
  /// step that may write it, and is added to the arena when a step completes it. The last use completes the
  /// parameter.
  Tensor gradient_of(const Node& node, std::string_view parameter);
  /// Adds a reorder of a gradient in another layout, or with other dims (a dense layer on both a flattened
  /// image and a vector), to its place, and completes it.
  void write_gradient(const Node& node, std::string_view parameter, const Tensor& written);
  /// Returns a parameter in the form that a primitive needs: the parameter itself if it has that form;
  /// otherwise the copy that is made once per update (WorkingWeights); without such copies, the result
  /// of a step of the plan.
  Tensor working(const Node& node, std::string_view parameter, const WeightForm& form);
  std::size_t slot(const Node& node, std::string_view parameter) const;

 private:
  /// All steps share one piece of scratch memory up to this size, which stays in the cache. Larger scratch
  /// memory is placed among the activations.
  static constexpr std::size_t kSharedScratchBytes = std::size_t{8} << 20;

  /// The state of a slot's gradient.
  struct SharedGradient {
    std::size_t uses = 0;  ///< nodes that have given their gradient
    Tensor separate;       ///< memory of the current node, if it does not write to the arena
  };

  void refuse_dead_ends() const;
  void find_head();
  void compile_forward();
  void compile_backward();
  void add_step(Step step);
  /// Returns the steps that add the gradients which `step` completes to the arena.
  std::vector<Step> complete_gradients(Step& step);

  const Graph& graph_;
  const ParameterLayout* layout_;  ///< null in a dry run
  PlanOptions options_;
  CompiledPlan plan_;  ///< what has been added so far
  std::vector<Fusion> fusions_;
  std::vector<bool> inference_;  ///< by node, inference_nodes()
  std::size_t head_ = 0;         ///< the node whose value the loss reads
  std::size_t activation_ = 0;   ///< the node that is part of the loss, or the last

  std::vector<std::size_t> uses_;                ///< by node: how many nodes share its parameters
  std::map<std::size_t, SharedGradient> given_;  ///< by slot
  std::vector<std::function<void()>> backward_makers_;
  std::vector<Step> offers_;
  bool in_backward_ = false;

  std::vector<std::size_t> alias_;
  std::vector<Tensor> values_;
  std::vector<Tensor> gradients_;
  std::vector<bool> needs_gradient_;
  std::map<std::pair<Ref, Type>, Tensor> converted_;  ///< cache of value_as
};

/// Compiles a graph.
inline CompiledPlan compile(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options) {
  return PlanBuilder(graph, layout, options).compile();
}

/// Adds the step dy = y > 0 ? dy : 0 to the backward list, in place where possible. Returns the result.
Tensor relu_gradient(PlanBuilder& plan, const Node& node, const Tensor& y, const Tensor& dy);

}  // namespace convoke::nn
