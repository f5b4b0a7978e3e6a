#pragma once
// How vectors of channels are grouped for the products.
#include <cstdint>

#include "nn/kernels/winograd/simd.hpp"

namespace convoke::nn {
namespace {

// Vectors whose sums stay in registers together: AVX-512 has 32 registers, AVX2 16.
constexpr int kPanel = kLanes == 16 ? 4 : 2;

/// The panel of vector `channel` of `blocks`; the last panel may have fewer vectors.
struct Panel {
  Panel(std::int64_t blocks, std::int64_t channel)
      : first(channel / kPanel * kPanel), vectors(blocks - first < kPanel ? blocks - first : kPanel) {}
  std::int64_t first, vectors;
};

}  // namespace
}  // namespace convoke::nn
