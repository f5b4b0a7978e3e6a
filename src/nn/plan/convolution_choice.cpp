#include "nn/plan/convolution_choice.hpp"

namespace convoke::nn {

bool prefers_winograd(Pass pass, const WinogradShape& shape, ConvolutionChoice choice) {
  if (choice != ConvolutionChoice::kAuto) return choice == ConvolutionChoice::kWinograd;
  // Products per pair of channels: direct 9 for each output pixel; Winograd one for each point of the tiles,
  // of which a third more goes into the transforms of images, and `beside` them what serves all tiles:
  // weights to be read, or transformed in the pass, or their gradient to be transformed back. Fitted on AMD
  // with AVX-512 over shapes of 1 to 56 pixels and 16 to 512 channels; it holds for AVX2.
  const auto samples = static_cast<double>(shape.samples);
  const double direct = 9 * samples * static_cast<double>(shape.out_height * shape.out_width);
  const double tiles =
      samples * TileAxis(shape.out_height).points() * static_cast<double>(TileAxis(shape.out_width).points());
  const double beside = pass == Pass::kBackwardWeights ? 130 : shape.by_pieces() ? 330 : 16;
  return direct >= 1.4 * (tiles + beside);
}

}  // namespace convoke::nn
