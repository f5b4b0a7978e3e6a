#include "convoke/nn/layers/border.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "nn/layers/resampling.hpp"

namespace convoke::nn {
namespace {

/// Output o is input o - before, or 0 where there is none.
AxisTaps shifted(std::int64_t inputs, std::int64_t outputs, std::int64_t before) {
  AxisTaps taps;
  for (std::int64_t o = 0; o < outputs; ++o) {
    if (o >= before && o - before < inputs) taps.add(o - before, 1);
    taps.close();
  }
  return taps;
}

Border read_border(SettingsReader& read, std::string_view key, std::int64_t fallback) {
  const auto list = read.get(key, std::vector<std::int64_t>{fallback});
  bool good = list.size() == 1 || list.size() == 2 || list.size() == 4;
  for (const std::int64_t amount : list) good = good && amount >= 0;
  if (!good)
    read.fail(
        fmt::format("\"{}\" must be a number >= 0, [height, width] or [top, bottom, left, right]", key));
  if (list.size() == 4) return {{list[0], list[2]}, {list[1], list[3]}};
  return Extent(list.front(), list.back());
}

Value write_border(const Border& border) { return write_padding(Padding::by(border.before, border.after)); }

void compile_shift(PlanBuilder& plan, const Node& node, Extent before) {
  const Shape& in = plan.graph().node(node.inputs[0]).shape;
  compile_resampling(plan, node, shifted(in[1], node.shape[1], before.height),
                     shifted(in[2], node.shape[2], before.width));
}

}  // namespace

Padding padded_by(const Padding& own, const Border& border) {
  const auto sum = [](Extent a, Extent b) { return Extent(a.height + b.height, a.width + b.width); };
  return Padding::by(sum(own.before, border.before), sum(own.after, border.after));
}

Shape ZeroPad::output_shape(std::span<const ValueSpec> inputs) const {
  const Shape& in = inputs[0];
  require_image(in);
  return {in[0], padding_.before.height + in[1] + padding_.after.height,
          padding_.before.width + in[2] + padding_.after.width};
}

Settings ZeroPad::settings() const { return {{"layer", "zero_pad"}, {"padding", write_border(padding_)}}; }

LayerPtr ZeroPad::make(SettingsReader& read) {
  return std::make_shared<ZeroPad>(read_border(read, "padding", 1));
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
    throw Error(fmt::format("leaves {} of its input {}", out.with_batch(), in.with_batch()),
                "cut off less than the image has");
  }
  return out;
}

Settings Crop::settings() const { return {{"layer", "crop"}, {"cropping", write_border(cropping_)}}; }

LayerPtr Crop::make(SettingsReader& read) {
  read.require_value("cropping");
  return std::make_shared<Crop>(read_border(read, "cropping", 0));
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
