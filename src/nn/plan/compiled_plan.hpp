#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "convoke/nn/plan/network.hpp"
#include "nn/dnnl.hpp"
#include "nn/kernels/bfloat16.hpp"
#include "nn/plan/weight_form.hpp"

namespace convoke::nn {

/// A piece of a plan's memory: a buffer of the activation arena, the scratch memory that all steps share, or
/// a place in the caller's arenas; by default none.
struct Ref {
  enum class Place : unsigned char { kNone, kActivation, kScratch, kParameter, kGradient, kWorking };
  Place place = Place::kNone;
  /// activation: number of the buffer; working weights: offset in bytes; otherwise offset in floats
  std::size_t id = 0;

  explicit operator bool() const { return place != Place::kNone; }
  friend auto operator<=>(const Ref&, const Ref&) = default;
};

/// A tensor of a plan: memory with a layout.
struct Tensor {
  Desc desc;
  Ref ref;
  bool exclusive = true;  ///< no other step reads this memory later: it may be overwritten in place
  explicit operator bool() const { return static_cast<bool>(ref); }
};

/// The addresses that a run's steps work on, and the data of the run.
struct Frame {
  std::byte* activations = nullptr;
  std::byte* scratch = nullptr;
  std::vector<std::size_t> offsets;  ///< offset of each activation buffer, bytes
  const float* parameters = nullptr;
  const std::byte* working = nullptr;
  float* gradients = nullptr;
  StepKey key;
  std::int64_t batch = 0;  ///< samples of the whole step, over all plans, as the loss counts them
  /// samples over which moments are summed: those of the batch, or of this plan alone
  std::int64_t group = 0;

  /// Returns null for no memory.
  std::byte* address(Ref ref) const;
  /// Returns the address of element `first`, or null for no memory. T: the type of the elements, for kernels
  /// over the stored type that of the tensor.
  template <class T = float>
  T* at(Ref ref, std::int64_t first = 0) const {
    return ref ? reinterpret_cast<T*>(address(ref)) + first : nullptr;
  }
  template <class T = float>
  T* at(const Tensor& tensor, std::int64_t first = 0) const {
    return at<T>(tensor.ref, first);
  }
  std::int32_t* integers(Ref ref, std::int64_t first = 0) const { return at<std::int32_t>(ref, first); }
};

/// Calls f with a value of the stored type of `desc`: float or Bf16.
template <class F>
void with_stored_type(const Desc& desc, const F& f) {
  if (type_of(desc) == kBf16) return f(Bf16{});
  f(float{});
}

/// Sums over a plan's own samples, which the plan needs over the whole batch: doubles in an activation
/// buffer.
struct Moments {
  Ref ref;
  std::size_t count = 0;
};

/// One entry of the flat list: a oneDNN primitive or one of our kernels.
struct Step {
  PlanStep info;
  dnnl::primitive primitive;                      ///< empty for a kernel
  std::vector<std::pair<int, Tensor>> arguments;  ///< arguments of the primitive
  std::function<void(const Frame&)> kernel;
  std::vector<Ref> uses;               ///< all memory that it reads or writes (arguments are added to it)
  Tensor output;                       ///< its result, which is searched for NaN; may be empty
  std::vector<Ref> changes;            ///< memory besides `output` whose earlier value it overwrites
  std::vector<std::size_t> completes;  ///< parameter slots whose gradient is final after it
  bool shares_scratch = false;         ///< the primitive uses the scratch memory that all steps share
  std::vector<dnnl_exec_arg_t> bound;  ///< filled when memory is placed
  Moments moments;                     ///< moments to exchange after it; usually none
  const char* label = nullptr;         ///< "conv2d_2 forward", for Span
};

/// The result of compiling the layers of a graph: the steps, and the memory and parameters that they need.
struct CompiledPlan {
  std::vector<Step> forward;
  std::vector<Step> backward;
  std::vector<std::size_t> buffer_bytes;
  std::size_t scratchpad_bytes = 0;       ///< of the memory that steps share
  std::set<std::size_t> recomputed;       ///< buffers that hold no value between forward and backward
  Tensor input;                           ///< plain
  Tensor output;                          ///< plain
  Tensor logits;                          ///< what the loss reads: the output, or the input of a last softmax
  const Loss* loss = nullptr;             ///< computes the gradient with which backward begins
  std::int64_t classes = 0;               ///< of its labels, 0: not known
  bool loss_reads_probabilities = false;  ///< `logits` are values of the loss's activation, not its inputs
  Tensor converted;       ///< for the logits that belong to these probabilities, training only
  Tensor loss_gradient;   ///< d loss / d logits, training only
  Tensor input_gradient;  ///< d loss / d input, plain; with options.input_gradient only
  std::map<std::pair<std::size_t, std::string>, Desc> preferred;
  /// In a dry run, the copies that working() was asked for: (node, parameter), form.
  std::vector<std::pair<std::pair<std::size_t, std::string>, WeightForm>> wanted;
};

}  // namespace convoke::nn
