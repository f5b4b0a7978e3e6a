#pragma once
#include "convoke/nn/plan/parameters.hpp"
#include "nn/kernels/winograd/winograd.hpp"

namespace convoke::nn {

enum class Pass { kForward, kBackwardData, kBackwardWeights };

/// True if this pass should use the Winograd kernels, which must support the shape, instead of oneDNN's
/// direct ones. A pure function of shape and choice, never of a timing, so that equal runs give equal
/// results.
bool prefers_winograd(Pass pass, const WinogradShape& shape, ConvolutionChoice choice);

}  // namespace convoke::nn
