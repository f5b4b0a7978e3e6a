#include "convoke/nn/layers/resampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "convoke/core/error.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/layers/resampling.hpp"

namespace convoke::nn {
namespace {

using Map = std::shared_ptr<const std::pair<AxisTaps, AxisTaps>>;  // a step is copied, its tables are not

/// Returns the map from gradients of the outputs to gradients of `inputs` inputs.
AxisTaps transposed(const AxisTaps& taps, std::int64_t inputs) {
  AxisTaps result;
  for (std::int64_t input = 0; input < inputs; ++input) {
    for (std::int64_t o = 0; o < taps.outputs(); ++o) {
      for (auto t = static_cast<std::size_t>(taps.first[static_cast<std::size_t>(o)]);
           t < static_cast<std::size_t>(taps.first[static_cast<std::size_t>(o) + 1]); ++t) {
        if (taps.index[t] == input) result.add(o, taps.weight[t]);
      }
    }
    result.close();
  }
  return result;
}

/// Adds the step y = map of x, where `in` is the layout of x.
void add_resampling(PlanBuilder& plan, const Node& node, const char* what, const ChannelBlocks& in,
                    const Map& map, const Tensor& x, const Tensor& y) {
  plan.add_typed_kernel(
      x.desc, node, what,
      [=]<class T>(const Frame& frame) {
        kernels<ResampleKernels<T>>().resample(in, map->first, map->second, frame.at<T>(x), frame.at<T>(y));
      },
      {x.ref, y.ref}, y);
}

}  // namespace

void compile_resampling(PlanBuilder& plan, const Node& node, const AxisTaps& rows, const AxisTaps& columns) {
  const std::size_t from = node.inputs[0];
  ChannelBlocks in;
  const Tensor x = plan.blocked(plan.value(from), node, in);
  const Dims out{in.samples, in.channels, rows.outputs(), columns.outputs()};
  const Tensor y = plan.allocate(with_layout_of(in, out, type_of(x.desc)));
  add_resampling(plan, node, "forward", in, std::make_shared<std::pair<AxisTaps, AxisTaps>>(rows, columns), x,
                 y);
  plan.set_value(node.index, y);
  if (!plan.training() || !plan.needs_gradient(from)) return;
  const auto back = std::make_shared<std::pair<AxisTaps, AxisTaps>>(transposed(rows, in.height),
                                                                    transposed(columns, in.width));
  const std::int64_t height = rows.outputs(), width = columns.outputs();
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    ChannelBlocks blocks = in;  // not derived from dy: the layout of a single pixel is ambiguous
    blocks.height = height;
    blocks.width = width;
    const Tensor dx = plan.allocate(x.desc);
    add_resampling(plan, node, "backward data", blocks, back, dy, dx);
    plan.add_gradient(from, dx, node);
  });
}

namespace {

using Centers = ResizeOptions::Centers;
using Method = ResizeOptions::Method;
using Round = ResizeOptions::Rounding;

constexpr std::array kMethods{Named<Method>{"nearest", Method::kNearest},
                              Named<Method>{"bilinear", Method::kBilinear}};
constexpr std::array kCenters{Named<Centers>{"half_pixel", Centers::kHalfPixel},
                              Named<Centers>{"align_corners", Centers::kAlignCorners},
                              Named<Centers>{"asymmetric", Centers::kAsymmetric}};
constexpr std::array kRoundings{Named<Round>{"round_prefer_ceil", Round::kRoundPreferCeil},
                                Named<Round>{"round_prefer_floor", Round::kRoundPreferFloor},
                                Named<Round>{"floor", Round::kFloor}, Named<Round>{"ceil", Round::kCeil}};

/// A fraction with a positive denominator, so that rounding is exact.
struct Fraction {
  std::int64_t over, under;
};
std::int64_t floor_of(Fraction f) { return f.over / f.under - (f.over % f.under < 0 ? 1 : 0); }
std::int64_t ceil_of(Fraction f) { return -floor_of({-f.over, f.under}); }

/// Returns the place on the input of output pixel o.
Fraction place_of(std::int64_t o, std::int64_t inputs, std::int64_t outputs, Centers centers) {
  if (centers == Centers::kHalfPixel) return {(2 * o + 1) * inputs - outputs, 2 * outputs};
  if (centers == Centers::kAsymmetric) return {o * inputs, outputs};
  return {o * (inputs - 1), std::max<std::int64_t>(outputs - 1, 1)};
}

std::int64_t nearest(Fraction place, Round rounding, std::int64_t inputs) {
  const auto [over, under] = place;
  std::int64_t pixel = 0;
  if (rounding == Round::kFloor) pixel = floor_of(place);
  if (rounding == Round::kCeil) pixel = ceil_of(place);
  if (rounding == Round::kRoundPreferFloor) pixel = ceil_of({2 * over - under, 2 * under});
  if (rounding == Round::kRoundPreferCeil) pixel = floor_of({2 * over + under, 2 * under});
  return std::clamp<std::int64_t>(pixel, 0, inputs - 1);
}

AxisTaps interpolated(std::int64_t inputs, std::int64_t outputs, const ResizeOptions& options) {
  AxisTaps taps;
  for (const ResizedPixel& pixel : resized_pixels(inputs, outputs, options)) {
    taps.add(pixel.pixel, 1 - pixel.next);
    if (pixel.next > 0) taps.add(pixel.pixel + 1, pixel.next);
    taps.close();
  }
  return taps;
}

}  // namespace

std::vector<ResizedPixel> resized_pixels(std::int64_t inputs, std::int64_t outputs,
                                         const ResizeOptions& options) {
  std::vector<ResizedPixel> pixels;
  for (std::int64_t o = 0; o < outputs; ++o) {
    const Fraction place = place_of(o, inputs, outputs, options.centers);
    if (options.method == Method::kNearest) {
      pixels.push_back({nearest(place, options.rounding, inputs)});
      continue;
    }
    const double inside = std::clamp(static_cast<double>(place.over) / static_cast<double>(place.under), 0.0,
                                     static_cast<double>(inputs - 1));
    const auto left = static_cast<std::int64_t>(inside);
    pixels.push_back({left, inside - static_cast<double>(left)});
  }
  return pixels;
}

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

Resize::Keys Resize::keys() {
  using O = ResizeOptions;
  static constexpr std::array kKeys{
      key<&O::size>({.name = "size",
                     .range = kAtLeastOne,
                     .omit_default = true,
                     .fallback = "none",
                     .help = "size of the output; give either size or scale"}),
      key<&O::scale>({.name = "scale",
                      .range = kAtLeastOne,
                      .omit_default = true,
                      .fallback = "none",
                      .help = "output size divided by input size"}),
      choice<kMethods, &O::method>({.name = "method",
                                    .help = "without smoothing; the defaults of both are Keras' "
                                            "and PyTorch's \"nearest-exact\" and \"bilinear\""}),
      choice<kCenters, &O::centers>(
          {.name = "centers",
           .omit_default = true,
           .help =
               "where output o reads the input: (o + ½) in / out − ½, o (in − 1) / (out − 1), o in / out"}),
      choice<kRoundings, &O::rounding>(
          {.name = "rounding",
           .omit_default = true,
           .help = "of \"nearest\", in ONNX's words; PyTorch's \"nearest\": \"asymmetric\" with \"floor\""})};
  return kKeys;
}

void Resize::check(const SettingsReader& read, const ResizeOptions& o) {
  if ((o.size == Extent(0)) == (o.scale == Extent(0)))
    read.fail("needs either \"size\" or \"scale\"", "size = [height, width], or scale = 2");
  if (o.method != Method::kNearest && o.rounding != Round::kRoundPreferCeil)
    read.fail("\"rounding\" is for method \"nearest\"", "remove it: \"bilinear\" does not round");
}

void Resize::compile(PlanBuilder& plan, const Node& node) const {
  const Shape& in = plan.graph().node(node.inputs[0]).shape;
  compile_resampling(plan, node, interpolated(in[1], node.shape[1], options_),
                     interpolated(in[2], node.shape[2], options_));
}

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
