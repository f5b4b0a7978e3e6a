#include "nn/kernels/elementwise.hpp"

#include <limits>

#include "convoke/core/multiversion.hpp"

namespace convoke::nn {
namespace {

template <class T>
[[gnu::always_inline]] inline void add_body(const T* a, const T* b, T* sum, std::size_t n, bool relu) {
  const float floor = relu ? 0.0F : -std::numeric_limits<float>::infinity();
  for_each_sixteen(
      n, [=](auto width, std::size_t i) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        const In<T, kWidth> x(a + i), y(b + i);
        Out<T, kWidth> out(sum + i);
#pragma omp simd
        for (int c = 0; c < kWidth; ++c) {
          const float value = x[c] + y[c];
          out[c] = value <= floor ? floor : value;  // NaN remains NaN
        }
        out.put();
      });
}

template <class T>
[[gnu::always_inline]] inline void relu_backward_body(const T* y, const T* dy, T* dx, std::size_t n) {
  for_each_sixteen(
      n, [=](auto width, std::size_t i) __attribute__((always_inline)) {
        constexpr int kWidth = decltype(width)::value;
        const In<T, kWidth> value(y + i), gradient(dy + i);
        Out<T, kWidth> out(dx + i);
#pragma omp simd
        for (int c = 0; c < kWidth; ++c) out[c] = value[c] > 0 ? gradient[c] : 0.0F;
        out.put();
      });
}

}  // namespace

CONVOKE_MULTIVERSION
void add(const float* a, const float* b, float* sum, std::size_t n, bool relu) {
  add_body(a, b, sum, n, relu);
}
CONVOKE_MULTIVERSION_BF16
void add(const Bf16* a, const Bf16* b, Bf16* sum, std::size_t n, bool relu) { add_body(a, b, sum, n, relu); }

CONVOKE_MULTIVERSION
void relu_backward(const float* y, const float* dy, float* dx, std::size_t n) {
  relu_backward_body(y, dy, dx, n);
}
CONVOKE_MULTIVERSION_BF16
void relu_backward(const Bf16* y, const Bf16* dy, Bf16* dx, std::size_t n) {
  relu_backward_body(y, dy, dx, n);
}

}  // namespace convoke::nn
