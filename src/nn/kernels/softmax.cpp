#include "nn/kernels/softmax.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::nn {
namespace {

// y = exp(x - max x). Returns the sum of y.
float exponentials(const float* x, float* y, std::int64_t classes) {
  const float largest = *std::max_element(x, x + classes);
  float sum = 0;
  for (std::int64_t k = 0; k < classes; ++k) sum += y[k] = std::exp(x[k] - largest);
  return sum;
}

}  // namespace

void softmax_forward(const float* x, float* y, std::int64_t n, std::int64_t classes) {
  for (std::int64_t i = 0; i < n; ++i, x += classes, y += classes) {
    const float scale = 1.0F / exponentials(x, y, classes);
    for (std::int64_t k = 0; k < classes; ++k) y[k] *= scale;
  }
}

void softmax_backward(const float* y, const float* dy, float* dx, std::int64_t n, std::int64_t classes) {
  for (std::int64_t i = 0; i < n; ++i, y += classes, dy += classes, dx += classes) {
    float dot = 0;
    for (std::int64_t k = 0; k < classes; ++k) dot += dy[k] * y[k];
    for (std::int64_t k = 0; k < classes; ++k) dx[k] = y[k] * (dy[k] - dot);
  }
}

}  // namespace convoke::nn
