#pragma once
#include <cstdint>

namespace convoke::nn {

/// y = softmax(x) for each row, (n, classes) each; y may be x. Subtracts the row's maximum first.
void softmax_forward(const float* x, float* y, std::int64_t n, std::int64_t classes);

/// dx = y (dy - sum_j dy_j y_j) for each row; dx may be dy.
void softmax_backward(const float* y, const float* dy, float* dx, std::int64_t n, std::int64_t classes);

}  // namespace convoke::nn
