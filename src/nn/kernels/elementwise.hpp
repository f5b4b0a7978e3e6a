#pragma once
#include <cstddef>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

template <class T>
struct ElementwiseKernels {
  /// sum = a + b, or max(a + b, 0) with `relu`; n elements; sum may be a or b.
  void (*add)(const T* a, const T* b, T* sum, std::size_t n, bool relu);

  /// dx = y > 0 ? dy : 0; n elements; dx may be dy.
  void (*relu_backward)(const T* y, const T* dy, T* dx, std::size_t n);
};

}  // namespace convoke::nn
