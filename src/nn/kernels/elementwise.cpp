#include "nn/kernels/elementwise.hpp"

#include "convoke/core/multiversion.hpp"

namespace convoke::nn {

CONVOKE_MULTIVERSION
void add(const float* a, const float* b, float* sum, std::size_t n, bool relu) {
  if (relu) {
    for (std::size_t i = 0; i < n; ++i) sum[i] = a[i] + b[i] <= 0 ? 0 : a[i] + b[i];  // NaN stays NaN
  } else {
    for (std::size_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
  }
}

CONVOKE_MULTIVERSION
void relu_backward(const float* y, const float* dy, float* dx, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) dx[i] = y[i] > 0 ? dy[i] : 0;
}

}  // namespace convoke::nn
