#pragma once
#include <cstdint>
#include <span>

namespace convoke::nn {

/// y = softmax(x) by rows; (n, classes) each; y may be x. The row's maximum is taken off first.
void softmax_forward(const float* x, float* y, std::int64_t n, std::int64_t classes);

/// dx = y (dy - sum_j dy_j y_j) by rows; dx may be dy.
void softmax_backward(const float* y, const float* dy, float* dx, std::int64_t n, std::int64_t classes);

struct CrossEntropy {
  double loss = 0;           ///< sum over the rows of -log softmax(x)[label]
  std::int64_t correct = 0;  ///< rows whose first largest logit is the label
};

/// dx = (softmax(x) - one_hot(label)) / batch by rows.
CrossEntropy softmax_cross_entropy(const float* x, std::span<const std::int32_t> labels, std::int64_t classes,
                                   std::int64_t batch, float* dx);

}  // namespace convoke::nn
