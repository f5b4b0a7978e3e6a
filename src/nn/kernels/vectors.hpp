#pragma once
#include <cstdint>
#include <cstring>

#include "nn/kernels/bfloat16.hpp"
#include "nn/kernels/instruction_sets.hpp"

namespace convoke::nn {

/// N values in registers. Loops over arrays are preferred, because they suit every instruction set. A kernel
/// uses these where GCC would keep the arrays of a loop in memory: sums over a whole image, and choices such
/// as `a[i] = x > b ? x : a[i]`, which it turns into masked stores. Passed by reference, because returning a
/// vector by value depends on the ABI of the target.
template <int N>
struct VectorsOf {
  using Floats [[gnu::vector_size(4 * N)]] = float;
  using Ints [[gnu::vector_size(4 * N)]] = std::int32_t;
};
template <int N>
using Floats = typename VectorsOf<N>::Floats;
template <int N>
using Ints = typename VectorsOf<N>::Ints;
/// The floats of a vector register; without AVX2, of two of them.
constexpr int kVectorFloats = kThisSet == InstructionSet::kAvx512 ? 16 : 8;
/// The number of values of a vector type.
template <class Vector>
constexpr int kValuesOf = sizeof(Vector) / 4;

template <class Vector>
[[gnu::always_inline]] inline void load_vector(const float* from, Vector& to) {
  std::memcpy(&to, from, sizeof to);
}
template <class Vector>
[[gnu::always_inline]] inline void load_vector(const Bf16* from, Vector& to) {
  const In<Bf16, kValuesOf<Vector>> values(from);
  std::memcpy(&to, values.values, sizeof to);
}
template <class Vector>
[[gnu::always_inline]] inline void store_vector(const Vector& from, float* to) {
  std::memcpy(to, &from, sizeof from);
}
template <class Vector>
[[gnu::always_inline]] inline void store_vector(const Vector& from, Bf16* to) {
  Out<Bf16, kValuesOf<Vector>> values(to);
  std::memcpy(values.values, &from, sizeof from);
  values.put();
}

}  // namespace convoke::nn
