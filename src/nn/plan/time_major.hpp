#pragma once
#include <cstdint>

#include "nn/dnnl.hpp"

namespace convoke::nn {

/// Extents of a batch of sequences.
struct SequenceExtents {
  std::int64_t samples, length, features;
};

/// Returns the layout (L, N, F) for a sequence's dims (N, F, 1, L): all samples of one time step are
/// neighbors. Recurrent layers read and write this layout; other layers reorder it.
inline Desc time_major_desc(const SequenceExtents& e, Type type) {
  return {
      {e.samples, e.features, 1, e.length}, type, Dims{e.features, 1, e.features, e.samples * e.features}};
}

}  // namespace convoke::nn
