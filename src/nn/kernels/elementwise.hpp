#pragma once
#include <cstddef>

namespace convoke::nn {

/// sum = a + b, or max(a + b, 0) with `relu`; n floats; sum may be a or b.
void add(const float* a, const float* b, float* sum, std::size_t n, bool relu);

/// dx = y > 0 ? dy : 0; n floats; dx may be dy.
void relu_backward(const float* y, const float* dy, float* dx, std::size_t n);

}  // namespace convoke::nn
