#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "convoke/nn/layers/axis.hpp"
#include "convoke/nn/layers/resize.hpp"
#include "interop/onnx/emission.hpp"

namespace convoke::interop::onnx_export {
namespace {

using Integers = std::vector<std::int64_t>;

// The position of the layer's axis behind the batch.
std::int64_t axis_behind_batch(const Emission& e) {
  return static_cast<std::int64_t>(nn::Axis(e.settings.text("axis")).in(e.input_shape())) + 1;
}

}  // namespace

// Axes that an input lacks are broadcast: (C) over images (C, H, W), (F) over sequences (L, F).
void emit_multiply(Emission& e) {
  std::vector<std::string> factors;
  for (std::size_t i = 0; i < e.input_count(); ++i) {
    Integers sample = e.input_shape(i).extents();
    const std::size_t rank = e.node.shape.rank();
    if (sample.size() == rank) {
      factors.push_back(e.input(i));
      continue;
    }
    sample = rank == 3 ? Integers{sample[0], 1, 1} : Integers{1, sample[0]};
    factors.push_back(e.reshape(e.input(i), sample));
  }
  std::string product = factors[0];
  for (std::size_t i = 1; i + 1 < factors.size(); ++i) product = e.op("Mul", {product, factors[i]});
  e.result("Mul", {product, factors.back()});
}

void emit_channel_shuffle(Emission& e) {
  const std::int64_t groups = e.settings.integer("groups");
  const Integers sample = e.input_shape().extents();
  // The channels, the first axis of an image and the last of others, become (groups, C / groups).
  Integers split = sample, perm{0, 2, 1, 3, 4};
  const std::size_t at = sample.size() == 3 ? 0 : sample.size() - 1;
  split[at] /= groups;
  split.insert(split.begin() + static_cast<std::ptrdiff_t>(at), groups);
  if (sample.size() == 2) perm = {0, 1, 3, 2};
  if (sample.size() == 1) perm = {0, 2, 1};
  e.result_reshaped(e.op("Transpose", {e.reshape(e.input(), split)}, {{"perm", perm}}), sample);
}

void emit_concat(Emission& e) {
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < e.input_count(); ++i) inputs.push_back(e.input(i));
  e.result("Concat", std::move(inputs), {{"axis", axis_behind_batch(e)}});
}

void emit_crop(Emission& e) {
  const nn::Border border = e.settings.border("cropping");
  const Shape& in = e.input_shape();
  e.result("Slice", {e.input(), e.integers("begin", {border.before.height, border.before.width}),
                     e.integers("end", {in[1] - border.after.height, in[2] - border.after.width}),
                     e.integers("axes", {2, 3})});
}

void emit_flatten(Emission& e) { e.result("Flatten", {e.input()}, {{"axis", std::int64_t{1}}}); }

void emit_permute(Emission& e) {
  Integers perm = e.settings.integers("dims");  // counted from 1, the batch is 0
  perm.insert(perm.begin(), 0);
  e.result("Transpose", {e.input()}, {{"perm", perm}});
}

void emit_reshape(Emission& e) { e.result_reshaped(e.input(), e.node.shape.extents()); }

void emit_slice(Emission& e) {
  const std::int64_t begin = e.settings.integer("begin"), size = e.settings.integer("size");
  const std::int64_t end = size > 0 ? begin + size : std::numeric_limits<std::int64_t>::max();
  e.result("Slice", {e.input(), e.integers("begin", {begin}), e.integers("end", {end}),
                     e.integers("axes", {axis_behind_batch(e)})});
}

void emit_zero_pad(Emission& e) {
  const nn::Border border = e.settings.border("padding");
  e.result("Pad", {e.input(), e.integers("pads", {0, 0, border.before.height, border.before.width, 0, 0,
                                                  border.after.height, border.after.width})});
}

namespace {

// Where "nearest" lies between two pixels, only an exact quotient decides. Runtimes divide by the scale in
// fp32, which is exact if out / in is a float.
bool has_exact_scale(std::int64_t in, std::int64_t out) {
  return std::has_single_bit(static_cast<std::uint64_t>(in / std::gcd(in, out)));
}

std::string places(Emission& e, std::int64_t in, std::int64_t out, const nn::ResizeOptions& options) {
  std::vector<std::int64_t> list;
  for (const nn::ResizedPixel& pixel : nn::resized_pixels(in, out, options)) list.push_back(pixel.pixel);
  return e.integers("places", list);
}

// The factor by which runtimes, which round the product down, find `out`.
float scale_to(std::int64_t in, std::int64_t out) {
  float scale = static_cast<float>(out) / static_cast<float>(in);
  while (static_cast<double>(in) * static_cast<double>(scale) < static_cast<double>(out)) {
    scale = std::nextafter(scale, std::numeric_limits<float>::max());
  }
  return scale;
}

}  // namespace

// Our centers and roundings have ONNX's names. The batch is not known, so that only scales can give the size.
void emit_resize(Emission& e) {
  const nn::ResizeOptions& options = dynamic_cast<const nn::Resize&>(*e.node.layer).options();
  const bool nearest = options.method == nn::ResizeOptions::Method::kNearest;
  const Shape in = e.input_shape(), out = e.node.shape;
  const bool exact = options.centers == nn::ResizeOptions::Centers::kAlignCorners ||
                     (has_exact_scale(in[1], out[1]) && has_exact_scale(in[2], out[2]));
  if (nearest && !exact) {
    const std::string rows =
        e.op("Gather", {e.input(), places(e, in[1], out[1], options)}, {{"axis", std::int64_t{2}}});
    return e.result("Gather", {rows, places(e, in[2], out[2], options)}, {{"axis", std::int64_t{3}}});
  }
  const auto named = [&](const char* key, const char* otherwise) {
    return e.settings.has(key) ? e.settings.text(key) : std::string(otherwise);
  };
  OnnxAttributes attributes{{"coordinate_transformation_mode", named("centers", "half_pixel")},
                            {"mode", std::string(nearest ? "nearest" : "linear")}};
  if (nearest) attributes.push_back({"nearest_mode", named("rounding", "round_prefer_ceil")});
  const std::string scales = e.constant("scales", {4}, [in, out] {
    return std::vector<float>{1, 1, scale_to(in[1], out[1]), scale_to(in[2], out[2])};
  });
  e.result("Resize", {e.input(), "", scales}, attributes);
}

}  // namespace convoke::interop::onnx_export
