#include "convoke/nn/layers/border.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "nn/layers/resampling.hpp"

namespace convoke::nn {
namespace {

/// Returns the map in which output o is input o - before, or 0 outside the input.
AxisTaps shifted(std::int64_t inputs, std::int64_t outputs, std::int64_t before) {
  AxisTaps taps;
  for (std::int64_t o = 0; o < outputs; ++o) {
    if (o >= before && o - before < inputs) taps.add(o - before, 1);
    taps.close();
  }
  return taps;
}

void compile_shift(PlanBuilder& plan, const Node& node, Extent before) {
  const Shape& in = plan.graph().node(node.inputs[0]).shape;
  compile_resampling(plan, node, shifted(in[1], node.shape[1], before.height),
                     shifted(in[2], node.shape[2], before.width));
}

}  // namespace

Shape ZeroPad::output_shape(std::span<const ValueSpec> inputs) const {
  const Shape& in = inputs[0];
  require_image(in);
  return {in[0], options_.padding.before.height + in[1] + options_.padding.after.height,
          options_.padding.before.width + in[2] + options_.padding.after.width};
}

ZeroPad::Keys ZeroPad::keys() {
  static constexpr std::array kKeys{
      key<&ZeroPadOptions::padding>({.name = "padding", .help = "zeroes at each side"})};
  return kKeys;
}

void ZeroPad::compile(PlanBuilder& plan, const Node& node) const {
  compile_shift(plan, node, options_.padding.before);
}

Shape Crop::output_shape(std::span<const ValueSpec> inputs) const {
  const Shape& in = inputs[0];
  require_image(in);
  const Shape out{in[0], in[1] - options_.cropping.before.height - options_.cropping.after.height,
                  in[2] - options_.cropping.before.width - options_.cropping.after.width};
  if (out[1] < 1 || out[2] < 1) {
    throw Error(fmt::format("reduces its input {1} to {0}", out.with_batch(), in.with_batch()),
                "make cropping smaller than the image");
  }
  return out;
}

Crop::Keys Crop::keys() {
  static constexpr std::array kKeys{key<&CropOptions::cropping>(
      {.name = "cropping", .required = true, .help = "rows and columns to remove"})};
  return kKeys;
}

void Crop::compile(PlanBuilder& plan, const Node& node) const {
  compile_shift(plan, node, {-options_.cropping.before.height, -options_.cropping.before.width});
}

}  // namespace convoke::nn
