#include "nn/kernels/embedding.hpp"

#include <algorithm>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/stored.hpp"

namespace convoke::nn {
namespace {

template <class T>
std::int64_t forward(const SequenceLayout& s, const std::int32_t* tokens, const float* weight,
                     std::int64_t rows, T* y) {
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
void backward(const SequenceLayout& s, const std::int32_t* tokens, const T* dy, std::int64_t rows,
              float* dweight) {
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

CONVOKE_KERNELS(EmbeddingKernels, forward, backward)

}  // namespace convoke::nn
