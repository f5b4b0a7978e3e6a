#include "nn/plan/convolution_choice.hpp"

#include <algorithm>

namespace convoke::nn {

bool prefers_winograd(Pass pass, const ConvolutionShape& shape, ConvolutionChoice choice,
                      ProcessorKind processor) {
  if (choice == ConvolutionChoice::kDirect || !shape.three_by_three) return false;
  if (choice == ConvolutionChoice::kWinograd) return true;
  if (shape.in_channels < 16 || shape.out_channels < 16) return false;
  // On Intel (AVX-512 with AMX, measured on another day) the stages' way through memory costs more than the
  // bare primitives show: a training step of 11 x 11 and 3 x 3 maps is 8 to 25 % faster direct, although
  // Winograd alone wins at 11 x 11; one of 28 x 28 and 14 x 14 maps is 40 % slower direct.
  if (processor == ProcessorKind::kIntel && std::min(shape.out_height, shape.out_width) < 14) return false;
  // Multiplications per pair of channels: direct 9 per output pixel; Winograd 36 per tile of 4 x 4 pixels of
  // what the pass writes (of the output, for the gradient of the weights). Measured on AMD with AVX-512,
  // shapes of 3 to 28 pixels: time falls by about half of the ratio (transforms are memory-bound), a little
  // more for the gradient of the weights, whose direct kernel is the slowest.
  const bool to_input = pass == Pass::kBackwardData;
  const std::int64_t height = to_input ? shape.in_height : shape.out_height;
  const std::int64_t width = to_input ? shape.in_width : shape.out_width;
  const auto tiles = static_cast<double>((height + 3) / 4 * ((width + 3) / 4));
  // The transformed weights, 36 per pair of channels, serve all tiles of the batch: for a handful they do not
  // pay.
  if (static_cast<double>(shape.samples) * tiles < 32) return false;
  const double ratio = 9.0 * static_cast<double>(shape.out_height * shape.out_width) / (36.0 * tiles);
  return ratio >= (pass == Pass::kBackwardWeights ? 1.2 : 1.7);
}

}  // namespace convoke::nn
