#include "nn/kernels/embedding.hpp"

#include <algorithm>

#include "convoke/core/multiversion.hpp"
#include "nn/kernels/stored.hpp"

namespace convoke::nn {
namespace {

template <class T>
[[gnu::always_inline]] inline std::int64_t forward(const SequenceLayout& s, const std::int32_t* tokens,
                                                   const float* weight, std::int64_t rows, T* y) {
  for (std::int64_t n = 0; n < s.samples; ++n) {
    for (std::int64_t l = 0; l < s.length; ++l) {
      const std::int64_t token = tokens[n * s.length + l];
      if (token < 0 || token >= rows) return n * s.length + l;
      const float* from = weight + token * s.units;
      T* to = y + n * s.sample_stride + l * s.position_stride;
#pragma omp simd
      for (std::int64_t u = 0; u < s.units; ++u) store(to + u, from[u]);
    }
  }
  return -1;
}

template <class T>
[[gnu::always_inline]] inline void backward(const SequenceLayout& s, const std::int32_t* tokens, const T* dy,
                                            std::int64_t rows, float* dweight) {
  std::fill(dweight, dweight + rows * s.units, 0.0F);
  for (std::int64_t n = 0; n < s.samples; ++n) {
    for (std::int64_t l = 0; l < s.length; ++l) {
      const T* from = dy + n * s.sample_stride + l * s.position_stride;
      float* to = dweight + tokens[n * s.length + l] * s.units;
#pragma omp simd
      for (std::int64_t u = 0; u < s.units; ++u) to[u] += load(from + u);
    }
  }
}

}  // namespace

CONVOKE_MULTIVERSION
std::int64_t embedding_forward(const SequenceLayout& shape, const std::int32_t* tokens, const float* weight,
                               std::int64_t rows, float* y) {
  return forward(shape, tokens, weight, rows, y);
}
CONVOKE_MULTIVERSION_BF16
std::int64_t embedding_forward(const SequenceLayout& shape, const std::int32_t* tokens, const float* weight,
                               std::int64_t rows, Bf16* y) {
  return forward(shape, tokens, weight, rows, y);
}

CONVOKE_MULTIVERSION
void embedding_backward(const SequenceLayout& shape, const std::int32_t* tokens, const float* dy,
                        std::int64_t rows, float* dweight) {
  backward(shape, tokens, dy, rows, dweight);
}
CONVOKE_MULTIVERSION_BF16
void embedding_backward(const SequenceLayout& shape, const std::int32_t* tokens, const Bf16* dy,
                        std::int64_t rows, float* dweight) {
  backward(shape, tokens, dy, rows, dweight);
}

}  // namespace convoke::nn
