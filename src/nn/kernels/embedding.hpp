#pragma once
#include <cstdint>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// The layout of sequences of `length` vectors of `units` neighboring numbers. The vector of (sample n,
/// position l) begins at n * sample_stride + l * position_stride.
struct SequenceLayout {
  std::int64_t samples = 0, length = 0, units = 0;
  std::int64_t sample_stride = 0, position_stride = 0;
};

template <class T>
struct EmbeddingKernels {
  /// y[n, l] = weight[tokens[n, l]] for tokens (N, L) in 0..rows - 1 and weight (rows, units). Returns -1 if
  /// all tokens are valid, otherwise the index of the first invalid token; y is then incomplete.
  std::int64_t (*forward)(const SequenceLayout& shape, const std::int32_t* tokens, const float* weight,
                          std::int64_t rows, T* y);

  /// dweight[v] = sum of dy[n, l] where tokens[n, l] = v, sample after sample. Writes all of (rows, units).
  void (*backward)(const SequenceLayout& shape, const std::int32_t* tokens, const T* dy, std::int64_t rows,
                   float* dweight);
};

}  // namespace convoke::nn
