#pragma once
#include <cstddef>

#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {

/// sum = a + b, or max(a + b, 0) with `relu`; n elements; sum may be a or b.
void add(const float* a, const float* b, float* sum, std::size_t n, bool relu);
void add(const Bf16* a, const Bf16* b, Bf16* sum, std::size_t n, bool relu);

/// dx = y > 0 ? dy : 0; n elements; dx may be dy.
void relu_backward(const float* y, const float* dy, float* dx, std::size_t n);
void relu_backward(const Bf16* y, const Bf16* dy, Bf16* dx, std::size_t n);

}  // namespace convoke::nn
