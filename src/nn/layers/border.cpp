#include "convoke/nn/layers/border.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "convoke/nn/layer_reader.hpp"
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
  return {in[0], padding_.before.height + in[1] + padding_.after.height,
          padding_.before.width + in[2] + padding_.after.width};
}

Settings ZeroPad::settings() const { return {{"layer", "zero_pad"}, {"padding", write_border(padding_)}}; }

LayerPtr ZeroPad::make(LayerReader& read) {
  return std::make_shared<ZeroPad>(read.border("padding", 1, "zeroes at each side"));
}

void ZeroPad::compile(PlanBuilder& plan, const Node& node) const {
  compile_shift(plan, node, padding_.before);
}

Shape Crop::output_shape(std::span<const ValueSpec> inputs) const {
  const Shape& in = inputs[0];
  require_image(in);
  const Shape out{in[0], in[1] - cropping_.before.height - cropping_.after.height,
                  in[2] - cropping_.before.width - cropping_.after.width};
  if (out[1] < 1 || out[2] < 1) {
    throw Error(fmt::format("reduces its input {1} to {0}", out.with_batch(), in.with_batch()),
                "make cropping smaller than the image");
  }
  return out;
}

Settings Crop::settings() const { return {{"layer", "crop"}, {"cropping", write_border(cropping_)}}; }

LayerPtr Crop::make(LayerReader& read) {
  return std::make_shared<Crop>(read.border("cropping", std::nullopt, "rows and columns to remove"));
}

void Crop::compile(PlanBuilder& plan, const Node& node) const {
  compile_shift(plan, node, {-cropping_.before.height, -cropping_.before.width});
}

Symbol zero_pad(Symbol x, Border padding) {
  return {x.graph, x.graph->add(std::make_shared<ZeroPad>(padding), {x.node})};
}
Symbol crop(Symbol x, Border cropping) {
  return {x.graph, x.graph->add(std::make_shared<Crop>(cropping), {x.node})};
}

}  // namespace convoke::nn
