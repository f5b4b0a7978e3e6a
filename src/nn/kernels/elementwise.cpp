#include "nn/kernels/elementwise.hpp"

#include <limits>

#include "nn/kernels/instruction_sets.hpp"

namespace convoke::nn {
namespace {

template <class T>
void add(const T* a, const T* b, T* sum, std::size_t n, bool relu) {
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
void relu_backward(const T* y, const T* dy, T* dx, std::size_t n) {
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

CONVOKE_KERNELS(ElementwiseKernels, add, relu_backward)

}  // namespace convoke::nn
