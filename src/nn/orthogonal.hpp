#pragma once
#include <cstdint>
#include <span>

#include "convoke/core/random.hpp"

namespace convoke::nn {

/// A random matrix (rows, columns), row-major, whose columns (or rows, if there are fewer) are orthonormal: Q
/// of a QR decomposition of normal numbers, with the signs that make R's diagonal positive, so that it is
/// uniform among such matrices. A. Saxe, J. McClelland, S. Ganguli, "Exact solutions to the nonlinear
/// dynamics of learning in deep linear neural networks", ICLR 2014; Keras' and PyTorch's `orthogonal`.
void orthogonal(std::int64_t rows, std::int64_t columns, const RandomKey& key, std::span<float> values);

}  // namespace convoke::nn
