#pragma once
#include "convoke/nn/plan/parameters.hpp"
#include "nn/kernels/winograd/winograd.hpp"

namespace convoke::nn {

enum class Pass { kForward, kBackwardData, kBackwardWeights };

/// Should this pass use Winograd's kernels, which take the shape, rather than oneDNN's direct ones? A pure
/// function of shape and choice, never of a timing, so that equal runs are equal.
bool prefers_winograd(Pass pass, const WinogradShape& shape, ConvolutionChoice choice);

}  // namespace convoke::nn
