#include "nn/plan/step.hpp"

namespace convoke::nn {

std::byte* Frame::address(Ref ref) const {
  switch (ref.place) {
    case Ref::Place::kActivation:
      return activations + offsets[ref.id];
    case Ref::Place::kScratch:
      return scratch;
    // Parameters are only read, but oneDNN's interface has no const memory.
    case Ref::Place::kParameter:
      return reinterpret_cast<std::byte*>(const_cast<float*>(parameters) + ref.id);
    case Ref::Place::kWorking:
      return const_cast<std::byte*>(working) + ref.id;
    default:
      return reinterpret_cast<std::byte*>(gradients + ref.id);
  }
}

}  // namespace convoke::nn
