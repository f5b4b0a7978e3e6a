#include "convoke/nn/layers/resize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/nn/layer_reader.hpp"
#include "nn/layers/resampling.hpp"

namespace convoke::nn {
namespace {

AxisTaps interpolated(std::int64_t inputs, std::int64_t outputs, ResizeOptions::Method method) {
  AxisTaps taps;
  for (std::int64_t o = 0; o < outputs; ++o) {
    if (method == ResizeOptions::Method::kNearest) {
      // floor((o + 1/2) inputs / outputs), in integers
      taps.add((2 * o + 1) * inputs / (2 * outputs), 1);
    } else {
      const double centre =
          (static_cast<double>(o) + 0.5) * static_cast<double>(inputs) / static_cast<double>(outputs) - 0.5;
      const double inside = std::clamp(centre, 0.0, static_cast<double>(inputs - 1));
      const auto left = static_cast<std::int64_t>(inside);
      const double share = inside - static_cast<double>(left);
      taps.add(left, 1 - share);
      if (share > 0) taps.add(left + 1, share);
    }
    taps.close();
  }
  return taps;
}

}  // namespace

Shape Resize::output_shape(std::span<const ValueSpec> inputs) const {
  const Shape& in = inputs[0];
  require_image(in);
  if (options_.size != Extent(0)) return {in[0], options_.size.height, options_.size.width};
  if (options_.scale.height < 1 || options_.scale.width < 1) {
    throw Error(fmt::format("has neither size nor scale for its input {}", in.with_batch()),
                "give it size = [height, width] or scale = 2");
  }
  return {in[0], in[1] * options_.scale.height, in[2] * options_.scale.width};
}

Settings Resize::settings() const {
  Settings settings{{"layer", "resize"}};
  if (options_.size != Extent(0)) settings.set("size", write_extent(options_.size));
  if (options_.scale != Extent(0)) settings.set("scale", write_extent(options_.scale));
  settings.set("method", options_.method == ResizeOptions::Method::kNearest ? "nearest" : "bilinear");
  return settings;
}

LayerPtr Resize::make(LayerReader& read) {
  ResizeOptions o;
  const auto size = read.optional_extent("size", "size of the output; give either size or scale");
  const auto scale = read.optional_extent("scale", "output size divided by input size");
  read.require(size.has_value() != scale.has_value(), "needs either \"size\" or \"scale\"",
               "size = [height, width], or scale = 2");
  o.size = size.value_or(o.size);
  o.scale = scale.value_or(o.scale);
  const std::string method = read.choice(
      "method", "nearest", {"nearest", "bilinear"},
      "half-pixel centres without smoothing, as in Keras; PyTorch's \"nearest-exact\" and \"bilinear\"");
  if (method == "bilinear") o.method = ResizeOptions::Method::kBilinear;
  return std::make_shared<Resize>(o);
}

void Resize::compile(PlanBuilder& plan, const Node& node) const {
  const Shape& in = plan.graph().node(node.inputs[0]).shape;
  compile_resampling(plan, node, interpolated(in[1], node.shape[1], options_.method),
                     interpolated(in[2], node.shape[2], options_.method));
}

Symbol resize(Symbol x, ResizeOptions options) {
  return {x.graph, x.graph->add(std::make_shared<Resize>(options), {x.node})};
}

}  // namespace convoke::nn
