#include "nn/plan/convolution_choice.hpp"

namespace convoke::nn {

bool prefers_winograd(Pass pass, const WinogradShape& shape, ConvolutionChoice choice) {
  if (choice != ConvolutionChoice::kAuto) return choice == ConvolutionChoice::kWinograd;
  // Counts products per pair of channels. Direct: 9 for each output pixel. Winograd: one for each point of
  // the tiles, plus a third for the transforms of images, plus `fixed` for the work that all tiles share:
  // reading the weights, transforming them in the pass, or transforming their gradient back. Fitted on AMD
  // with AVX-512 over shapes of 1 to 56 pixels and 16 to 512 channels; it also holds for AVX2.
  const auto samples = static_cast<double>(shape.samples);
  const double direct = 9 * samples * static_cast<double>(shape.out_height * shape.out_width);
  const double tiles =
      samples * TileAxis(shape.out_height).points() * static_cast<double>(TileAxis(shape.out_width).points());
  const double fixed = pass == Pass::kBackwardWeights ? 130 : shape.by_pieces() ? 330 : 16;
  return direct >= 1.4 * (tiles + fixed);
}

}  // namespace convoke::nn
