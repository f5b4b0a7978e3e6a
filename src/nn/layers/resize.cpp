#include "convoke/nn/layers/resize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"
#include "nn/layers/resampling.hpp"

namespace convoke::nn {
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

}  // namespace convoke::nn
