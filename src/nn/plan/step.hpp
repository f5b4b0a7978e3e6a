#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "convoke/nn/plan/network.hpp"
#include "nn/dnnl.hpp"
#include "nn/kernels/bfloat16.hpp"

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
  std::vector<std::size_t> completes;  ///< parameter slots whose gradient is final after it
  bool shares_scratch = false;         ///< the primitive uses the scratch memory that all steps share
  std::vector<dnnl_exec_arg_t> bound;  ///< filled when memory is placed
  Moments moments;                     ///< moments to exchange after it; usually none
  const char* label = nullptr;         ///< "conv2d_2 forward", for Span
};

}  // namespace convoke::nn
