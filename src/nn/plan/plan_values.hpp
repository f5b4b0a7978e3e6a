#pragma once
#include <map>
#include <utility>
#include <vector>

#include "nn/channel_blocks.hpp"
#include "nn/plan/plan_steps.hpp"

namespace convoke::nn {

/// The part of the PlanBuilder that knows the values of the nodes and their gradients, and converts them. A
/// view (flatten) shares the value of its input.
class PlanValues : public PlanSteps {
 public:
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

 protected:
  PlanValues(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options);

 private:
  std::vector<std::size_t> alias_;
  std::vector<Tensor> values_;
  std::vector<Tensor> gradients_;
  std::vector<bool> needs_gradient_;
  std::map<std::pair<Ref, Type>, Tensor> converted_;  ///< cache of value_as
};

}  // namespace convoke::nn
