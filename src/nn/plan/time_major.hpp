#pragma once
#include <cstdint>

#include "nn/dnnl.hpp"

namespace convoke::nn {

/// Extents of a batch of sequences.
struct SequenceExtents {
  std::int64_t samples, length, features;
};

/// A sequence's dims (N, F, 1, L) laid down as (L, N, F): all samples of one place side by side, which is how
/// recurrent layers read and write. Everyone else reorders.
inline Desc time_major_desc(const SequenceExtents& e, Type type) {
  return {
      {e.samples, e.features, 1, e.length}, type, Dims{e.features, 1, e.features, e.samples * e.features}};
}

/// The same memory as a matrix (L * N, F).
inline Desc rows_desc(const SequenceExtents& e, Type type) {
  return {{e.length * e.samples, e.features}, type, Format::nc};
}

}  // namespace convoke::nn
