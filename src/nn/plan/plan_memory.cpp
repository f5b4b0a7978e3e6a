#include "nn/plan/plan_memory.hpp"

#include <algorithm>

namespace convoke::nn {

Tensor PlanMemory::allocate(const Desc& desc) { return {desc, allocate_bytes(desc.get_size())}; }

Ref PlanMemory::allocate_bytes(std::size_t bytes) {
  plan_.buffer_bytes.push_back(bytes);
  return {Ref::Place::kActivation, plan_.buffer_bytes.size() - 1};
}

Ref PlanMemory::scratch(std::size_t bytes) {
  if (bytes > kSharedScratchBytes) return allocate_bytes(bytes);
  plan_.scratchpad_bytes = std::max(plan_.scratchpad_bytes, bytes);
  return {Ref::Place::kScratch, 0};
}

}  // namespace convoke::nn
