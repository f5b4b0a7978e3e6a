#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/nn/plan/parameters.hpp"
#include "nn/channel_blocks.hpp"
#include "nn/dnnl.hpp"
#include "nn/kernels/bfloat16.hpp"
#include "nn/plan/fusion.hpp"
#include "nn/plan/weight_form.hpp"

namespace convoke::nn {

/// A piece of memory of a plan: a buffer of the activation arena, the scratch memory that all steps share, or
/// a place in the caller's arenas.
struct Ref {
  enum class Place : unsigned char { kActivation, kScratch, kParameter, kGradient, kWorking };
  Place place = Place::kActivation;
  std::size_t id = 0;  ///< activation: number of the buffer; working weights: offset in bytes; else in floats

  friend auto operator<=>(const Ref&, const Ref&) = default;
};

/// A tensor of a plan: memory with a layout.
struct Tensor {
  Desc desc;
  Ref ref;
  bool exclusive = true;  ///< nobody else reads this memory later: it may be overwritten in place
  explicit operator bool() const { return dims_of(desc).size() > 0; }
};

/// The addresses that the steps of a run work on, and what the run is.
struct Frame {
  std::byte* activations = nullptr;
  std::byte* scratch = nullptr;
  std::vector<std::size_t> offsets;  ///< of each activation buffer, bytes
  const float* parameters = nullptr;
  const std::byte* working = nullptr;
  float* gradients = nullptr;
  StepKey key;
  std::int64_t batch = 0;  ///< samples of the whole step, over all plans, as the loss counts them
  std::int64_t group = 0;  ///< samples over which moments are summed: the batch, or this plan's alone

  std::byte* address(Ref ref) const;
  float* at(Ref ref) const { return reinterpret_cast<float*>(address(ref)); }
  /// For kernels over the stored type; T is that of the tensor.
  template <class T = float>
  T* at(const Tensor& tensor) const {
    return reinterpret_cast<T*>(address(tensor.ref));
  }
  std::int32_t* integers(Ref ref) const { return reinterpret_cast<std::int32_t*>(address(ref)); }
};

/// Calls f with a value of the type that the elements of `desc` are stored as: float or Bf16.
template <class F>
void with_stored_type(const Desc& desc, const F& f) {
  if (type_of(desc) == kBf16) return f(Bf16{});
  f(float{});
}

/// Sums over a plan's own samples that the plan needs over the whole batch: doubles in an activation buffer.
struct Moments {
  Ref ref;
  std::size_t count = 0;
};

/// One entry of the flat list: a oneDNN primitive or a kernel of ours.
struct Step {
  PlanStep info;
  dnnl::primitive primitive;                      ///< empty for a kernel
  std::vector<std::pair<int, Tensor>> arguments;  ///< of the primitive
  std::function<void(const Frame&)> kernel;
  std::vector<Ref> uses;               ///< all memory it reads or writes (arguments are added to it)
  Tensor output;                       ///< what it computes, to look for NaN in; may be empty
  std::vector<std::size_t> completes;  ///< parameter slots whose gradient is final after it
  bool shares_scratch = false;         ///< the primitive works with scratch memory that is everybody's
  std::vector<dnnl_exec_arg_t> bound;  ///< filled when memory is placed
  Moments moments;                     ///< to be exchanged after it; usually none
};

/// Collects the steps of a plan while the layers of a graph compile themselves into it. Without a layout it
/// is a rehearsal from which ParameterLayout learns the layouts that the primitives prefer.
class PlanBuilder {
 public:
  PlanBuilder(const Graph& graph, const ParameterLayout* layout, const PlanOptions& options);

  /// Compiles all layers, forward then backward.
  void compile();

  // What the layers ask.
  const Graph& graph() const { return graph_; }
  const PlanOptions& options() const { return options_; }
  bool training() const { return options_.training; }
  /// The same for one node: a frozen beginning of the network runs as in prediction (freeze.hpp).
  bool training(const Node& node) const { return training() && !inference_[node.index]; }
  const Loss& loss() const { return options_.loss != nullptr ? *options_.loss : *default_loss(); }
  std::int64_t samples() const { return options_.lane * options_.lanes; }
  const Fusion& fusion(const Node& node) const { return fusions_[node.index]; }
  /// The dims of a node's value: (N, F), (N, C, H, W); a sequence (L, F) lies as an image (N, F, 1, L).
  Dims batched(const Shape& shape) const;
  /// Row-major memory of a node's value, as callers and files see it; a sequence is (N, L, F).
  Desc plain_desc(const Shape& shape, Type type) const;
  /// The stored type of values: fp32, or bf16 with that precision. A layer without a bf16 form works on
  /// value_as(node, kFloat) and leaves an fp32 value; whoever reads it converts.
  Type stored() const { return options_.precision == Precision::kBfloat16 ? kBf16 : kFloat; }

  // Values. A view (flatten) shares the value of its input.
  Tensor value(std::size_t node) const { return values_[alias_[node]]; }
  /// The same as `type`, converted once for all who ask.
  Tensor value_as(std::size_t node, Type type, const Node& reader);
  /// The values of a node's inputs, all of one shape, in one layout and as stored(): in that of the first
  /// that is blocked for oneDNN, if there is one.
  std::vector<Tensor> values_alike(const Node& node);
  void set_value(std::size_t node, const Tensor& tensor) { values_[alias_[node]] = tensor; }
  void set_alias(std::size_t node, std::size_t of) { alias_[node] = alias_[of]; }
  /// True if this node's value is the network's output or what its last softmax or sigmoid reads: it is to be
  /// fp32, whatever the loss.
  bool feeds_loss(const Node& node) const;
  /// True if something before `node`'s output wants its gradient.
  bool needs_gradient(std::size_t node) const { return needs_gradient_[alias_[node]]; }

  // Memory.
  Tensor allocate(const Desc& desc);
  Ref allocate_bytes(std::size_t bytes);
  /// Memory for the time of one step.
  Ref scratch(std::size_t bytes);
  /// Where a step may write what it makes of `tensor` in the same layout: over it, or into other memory if
  /// somebody reads it later.
  Tensor in_place_of(const Tensor& tensor) { return tensor.exclusive ? tensor : allocate(tensor.desc); }
  /// `tensor` in layout `desc`: itself if it has it, else through a reorder, in the list that is being built.
  Tensor reordered(const Tensor& tensor, const Desc& desc, const Node& node);
  /// `tensor` as `type` in a layout of the same kind.
  Tensor retyped(const Tensor& tensor, Type type, const Node& node);
  /// `tensor` as plain (N, F): row-major, an image channels first.
  Tensor flat(const Tensor& tensor, const Node& node);
  /// `tensor` in a layout that our kernels can read.
  Tensor blocked(const Tensor& tensor, const Node& node, ChannelBlocks& blocks);
  /// A node's value in such a layout, for layers that tell channels apart: a feature of a flattened image is
  /// a channel of its own.
  Tensor blocked_by_channel(std::size_t from, const Node& node, ChannelBlocks& blocks);

  // Parameters of a node: its own, or those of the node whose layer it shares.
  /// True if any of them is optimised. If not, their gradients need not be computed; a layer that does so
  /// nevertheless writes them elsewhere (gradient_of).
  bool trains(const Node& node) const;
  /// The layout that is laid down for a parameter; empty in a rehearsal.
  Desc laid_down(const Node& node, std::string_view parameter) const;
  /// In a rehearsal, records the layout that the primitive prefers.
  void prefer(const Node& node, std::string_view parameter, const Desc& desc);
  Tensor parameter(const Node& node, std::string_view parameter) const;
  /// Where a backward step writes the gradient of a parameter, all of it. The first use of shared parameters
  /// writes where it belongs; later ones write elsewhere, and what they completed is added.
  Tensor gradient_of(const Node& node, std::string_view parameter);
  /// Adds a reorder of a gradient in another layout, or of other dims (a dense layer on a flattened image and
  /// on a vector), to where it belongs, and completes it.
  void write_gradient(const Node& node, std::string_view parameter, const Tensor& written);
  /// A parameter in the form that a primitive wants: itself if it is laid down so, else the copy that is made
  /// once per update (working_weights.hpp), or without one, made by a step of the plan.
  Tensor working(const Node& node, std::string_view parameter, const WeightForm& form);
  std::size_t slot(const Node& node, std::string_view parameter) const;

  // Steps: into the forward list while the layers compile, into the backward list from on_backward.
  void add_primitive(const Node& node, std::string what, const dnnl::primitive& primitive,
                     const std::string& implementation, std::vector<std::pair<int, Tensor>> arguments,
                     const Desc& scratchpad, double flops = 0, std::vector<std::size_t> completes = {});
  void add_kernel(const Node& node, std::string what, std::function<void(const Frame&)> kernel,
                  std::vector<Ref> uses, Tensor output, double flops = 0,
                  std::vector<std::size_t> completes = {}, std::string implementation = "convoke");
  /// Offers to compute the `value` of a forward step again in backward: `kernel` leaves the same bits
  /// there from what `uses` hold. Taken up where that saves much memory (recomputation.hpp).
  void offer_recomputation(const Node& node, std::string what, std::function<void(const Frame&)> kernel,
                           std::vector<Ref> uses, Tensor value);
  /// Ends a segment after the step that was added last: whoever runs the plan sums these `count` doubles over
  /// all plans of the batch, in place, before the next step. `count` must not depend on the plan's samples.
  void exchange(Ref moments, std::size_t count);

  // Backward. Called in reverse order of registration when the forward list is complete.
  void on_backward(std::function<void()> emit) { backward_makers_.push_back(std::move(emit)); }
  /// Sum of the gradients that the readers of a node's value have given; empty if none did.
  Tensor gradient(std::size_t node) const { return gradients_[alias_[node]]; }
  /// The same in the layout of the node's value.
  Tensor gradient_like_value(std::size_t node, const Node& reader);
  void add_gradient(std::size_t node, const Tensor& tensor, const Node& from);

  // What was built.
  std::vector<Step> forward;
  std::vector<Step> backward;
  std::vector<std::size_t> buffer_bytes;
  std::size_t scratchpad_bytes = 0;  ///< of what steps share
  std::vector<Step> recomputations;  ///< that layers offer
  std::set<std::size_t> recomputed;  ///< buffers that hold nothing between forward and backward
  Tensor input;                      ///< plain
  Tensor output;                     ///< plain
  Tensor logits;                     ///< what the loss reads: output, or the input of a last softmax
  Tensor loss_gradient;              ///< d loss / d logits, training only
  std::map<std::pair<std::size_t, std::string>, Desc> preferred;
  /// In a rehearsal, the copies that working() was asked for: (node, parameter), form.
  std::vector<std::pair<std::pair<std::size_t, std::string>, WeightForm>> wanted;

 private:
  /// What became of a slot's gradient so far.
  struct SharedGradient {
    std::size_t uses = 0;  ///< nodes that have given theirs
    Tensor beside;         ///< where the node at work writes, if not into the arena
  };

  void add_step(Step step);
  void refuse_dead_ends() const;
  void find_gradient_needs();
  void find_head();

  const Graph& graph_;
  const ParameterLayout* layout_;
  PlanOptions options_;
  std::vector<Fusion> fusions_;
  std::vector<bool> inference_;  ///< by node, inference_nodes()
  std::vector<std::size_t> alias_;
  std::vector<Tensor> values_;
  std::vector<Tensor> gradients_;
  std::vector<bool> needs_gradient_;
  std::vector<std::size_t> uses_;                     ///< of the parameters of a node: how many share them
  std::map<std::size_t, SharedGradient> given_;       ///< by slot
  std::size_t head_ = 0;                              ///< the node whose value the loss reads
  std::map<std::pair<Ref, Type>, Tensor> converted_;  ///< by value_as
  std::vector<std::function<void()>> backward_makers_;
  bool in_backward_ = false;
};

/// Adds the step dy = y > 0 ? dy : 0 to a backward list, in place where that is allowed; returns the result.
Tensor relu_gradient(PlanBuilder& plan, const Node& node, const Tensor& y, const Tensor& dy);

}  // namespace convoke::nn
