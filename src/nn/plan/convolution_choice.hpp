#pragma once
#include <cstdint>

#include "convoke/nn/backend.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::nn {

enum class Pass { kForward, kBackwardData, kBackwardWeights };

/// What decides the algorithm of one convolution primitive.
struct ConvolutionShape {
  std::int64_t samples = 0;
  std::int64_t in_channels = 0, out_channels = 0;
  std::int64_t in_height = 0, in_width = 0;
  std::int64_t out_height = 0, out_width = 0;
  bool three_by_three = false;  ///< 3 x 3, stride 1, no dilation, one group
};

/// Should this pass use Winograd F(4x4, 3x3)? A pure function of shape, choice and kind of processor, never
/// of a timing, so that equal runs are equal. If the primitive does not exist (oneDNN 3.x, or no AVX-512) the
/// caller takes direct.
bool prefers_winograd(Pass pass, const ConvolutionShape& shape, ConvolutionChoice choice,
                      ProcessorKind processor);

}  // namespace convoke::nn
