#include "nn/plan/weight_form.hpp"

#include <algorithm>
#include <cassert>

#include "convoke/nn/backend.hpp"
#include "nn/kernels/winograd/winograd.hpp"

namespace convoke::nn {
namespace {

// Our kernels compute in fp32, whatever the stored type. oneDNN's direct kernels do twice as many products
// per second in bf16 as in fp32, and with AMX many times as many.
double direct_speed(Type type) {
  if (type == kFloat) return 1;
  static const Backend here = backend();
  return here.amx ? 16 : here.native_bf16 ? 2 : 1;
}

}  // namespace

std::int64_t depthwise_block(const Desc& weight) {
  const Dims dims = dims_of(weight);
  if (dims.size() != 5) return 0;
  if (weight == Desc(dims, type_of(weight), Format::Goihw16g)) return 16;
  return weight == Desc(dims, type_of(weight), Format::Goihw8g) ? 8 : 0;
}

WeightForm::WeightForm(Kind transformed, const Desc& weight)
    : kind(transformed), desc(weight), in_channels_(dims_of(weight)[1]), out_channels_(dims_of(weight)[0]) {
  if (kind == Kind::kFlipped) {
    block_ = depthwise_block(weight);
    taps_ = dims_of(weight)[3] * dims_of(weight)[4];
    return;
  }
  const WinogradShape shape{.in_channels = in_channels_, .out_channels = out_channels_};
  desc = Desc({shape.weight_floats()}, kFloat, Format::a);
}

void WeightForm::transform(const float* from, float* to, bool shared) const {
  assert(kind != Kind::kReordered);
  if (kind == Kind::kFlipped) return flip(from, to);
  const WinogradKernels& kernels = *winograd_kernels();
  const auto make = kind == Kind::kWinograd ? kernels.transform : kernels.transform_transposed;
  make(in_channels_, out_channels_, from, shared, to);
  // The kernels do not write the line after each point. It is cleared, because all of the form is the output
  // of a step: Network::first_non_finite() would find what the memory held before.
  const WinogradShape shape{.in_channels = in_channels_, .out_channels = out_channels_};
  for (float* point = to; point != to + shape.weight_floats(); point += shape.weight_stride())
    std::fill(point + in_channels_ * out_channels_, point + shape.weight_stride(), 0.0F);
}

// (G / B, KH, KW, B)
void WeightForm::flip(const float* from, float* to) const {
  const auto floats = static_cast<std::int64_t>(desc.get_size() / sizeof(float)), kernels = taps_ * block_;
  for (std::int64_t first = 0; first < floats; first += kernels) {
    for (std::int64_t i = 0; i < kernels; i += block_)
      std::copy_n(from + first + kernels - block_ - i, block_, to + first + i);
  }
}

bool prefers_winograd(Pass pass, const WinogradShape& shape, Type type, ConvolutionChoice choice) {
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
  return direct >= 1.4 * direct_speed(type) * (tiles + fixed);
}

}  // namespace convoke::nn
