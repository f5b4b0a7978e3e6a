#include "nn/kernels/elementwise.hpp"

#include "convoke/core/multiversion.hpp"

namespace convoke::nn {
namespace {

template <class T>
[[gnu::always_inline]] inline void add_body(const T* a, const T* b, T* sum, std::size_t n, bool relu) {
  if (relu) {
    for (std::size_t i = 0; i < n; ++i) {
      const float value = static_cast<float>(a[i]) + static_cast<float>(b[i]);
      sum[i] = value <= 0 ? 0 : value;  // NaN stays NaN
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) sum[i] = static_cast<float>(a[i]) + static_cast<float>(b[i]);
  }
}

template <class T>
[[gnu::always_inline]] inline void relu_backward_body(const T* y, const T* dy, T* dx, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) dx[i] = static_cast<float>(y[i]) > 0 ? dy[i] : T{};
}

}  // namespace

CONVOKE_MULTIVERSION
void add(const float* a, const float* b, float* sum, std::size_t n, bool relu) {
  add_body(a, b, sum, n, relu);
}
CONVOKE_MULTIVERSION
void add(const Bf16* a, const Bf16* b, Bf16* sum, std::size_t n, bool relu) { add_body(a, b, sum, n, relu); }

CONVOKE_MULTIVERSION
void relu_backward(const float* y, const float* dy, float* dx, std::size_t n) {
  relu_backward_body(y, dy, dx, n);
}
CONVOKE_MULTIVERSION
void relu_backward(const Bf16* y, const Bf16* dy, Bf16* dx, std::size_t n) {
  relu_backward_body(y, dy, dx, n);
}

}  // namespace convoke::nn
