#include "nn/plan/weight_form.hpp"

#include <cassert>

#include "nn/kernels/winograd/winograd.hpp"

namespace convoke::nn {

WeightForm::WeightForm(Kind transformed, const Desc& weight)
    : kind(transformed), in_channels_(dims_of(weight)[1]), out_channels_(dims_of(weight)[0]) {
  const WinogradShape shape{.in_channels = in_channels_, .out_channels = out_channels_};
  desc = Desc({shape.weight_floats()}, kFloat, Format::a);
}

void WeightForm::transform(const float* from, float* to) const {
  assert(kind != Kind::kReordered);
  const WinogradKernels& kernels = *winograd_kernels();
  const auto make = kind == Kind::kWinograd ? kernels.transform : kernels.transform_transposed;
  make(in_channels_, out_channels_, from, to);
}

}  // namespace convoke::nn
