#pragma once
#include <cstdint>
#include <vector>

#include "nn/channel_blocks.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// One axis of a linear map that works on rows and columns separately: output o is the sum of weight[t] *
/// input[index[t]] over first[o] <= t < first[o + 1], or 0 if there are no such t.
struct AxisTaps {
  std::vector<std::int32_t> first{0};  ///< outputs + 1 elements
  std::vector<std::int32_t> index;
  std::vector<float> weight;

  std::int64_t outputs() const { return static_cast<std::int64_t>(first.size()) - 1; }
  /// Adds a tap to the current output; close() ends it.
  void add(std::int64_t input, double by) {
    index.push_back(static_cast<std::int32_t>(input));
    weight.push_back(static_cast<float>(by));
  }
  void close() { first.push_back(static_cast<std::int32_t>(index.size())); }
};

template <class T>
struct ResampleKernels {
  /// y[i, j] = sum_h sum_w rows[i, h] columns[j, w] x[h, w] in every plane; y is blocked as x. Padding,
  /// cropping, interpolation and averages are such maps. Their gradients are too, with both axes transposed.
  void (*resample)(const ChannelBlocks& in, const AxisTaps& rows, const AxisTaps& columns, const T* x, T* y);
};

}  // namespace convoke::nn
