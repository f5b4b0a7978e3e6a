#pragma once
// How vectors of channels are grouped for the products.
#include <cstdint>

#include "nn/kernels/winograd/simd.hpp"

namespace convoke::nn {
namespace {

// Vectors side by side whose sums stay in registers: AVX-512 has 32 of these, AVX2 16.
constexpr int kPanel = kLanes == 16 ? 4 : 2;

/// The panel of vector `channel` of `blocks`; the last one may have fewer.
struct Panel {
  Panel(std::int64_t blocks, std::int64_t channel)
      : first(channel / kPanel * kPanel), vectors(blocks - first < kPanel ? blocks - first : kPanel) {}
  std::int64_t first, vectors;
};

}  // namespace
}  // namespace convoke::nn
