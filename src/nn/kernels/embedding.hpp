#pragma once
#include <cstdint>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// Sequences of `length` vectors of `units` numbers that lie side by side; the vector of (sample n, place l)
/// begins at n * sample_stride + l * place_stride.
struct SequenceLayout {
  std::int64_t samples = 0, length = 0, units = 0;
  std::int64_t sample_stride = 0, place_stride = 0;
};

/// y[n, l] = weight[tokens[n, l]]; tokens (N, L) below the rows of weight (rows, units). Returns the index of
/// the first token outside 0..rows - 1, or -1; y is complete only then.
std::int64_t embedding_forward(const SequenceLayout& shape, const std::int32_t* tokens, const float* weight,
                               std::int64_t rows, float* y);
std::int64_t embedding_forward(const SequenceLayout& shape, const std::int32_t* tokens, const float* weight,
                               std::int64_t rows, Bf16* y);

/// dweight[v] = sum of dy[n, l] where tokens[n, l] = v, samples after one another; all of (rows, units) is
/// written.
void embedding_backward(const SequenceLayout& shape, const std::int32_t* tokens, const float* dy,
                        std::int64_t rows, float* dweight);
void embedding_backward(const SequenceLayout& shape, const std::int32_t* tokens, const Bf16* dy,
                        std::int64_t rows, float* dweight);

}  // namespace convoke::nn
