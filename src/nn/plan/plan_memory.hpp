#pragma once
#include "nn/plan/plan_source.hpp"

namespace convoke::nn {

/// The part of the PlanBuilder that gives memory: buffers, which later lie where their uses do not overlap
/// (arena.hpp), and scratch memory.
class PlanMemory : public PlanSource {
 public:
  using PlanSource::PlanSource;

  Tensor allocate(const Desc& desc);
  Ref allocate_bytes(std::size_t bytes);
  /// Returns memory for the duration of one step.
  Ref scratch(std::size_t bytes);
  /// Returns memory for the result of a step with the layout of `tensor`: the memory of `tensor`, or other
  /// memory if a later step reads `tensor`.
  Tensor in_place_of(const Tensor& tensor) { return tensor.exclusive ? tensor : allocate(tensor.desc); }

 protected:
  /// All steps share one piece of scratch memory up to this size, which stays in the cache. Larger scratch
  /// memory is placed among the activations.
  static constexpr std::size_t kSharedScratchBytes = std::size_t{8} << 20;
};

}  // namespace convoke::nn
