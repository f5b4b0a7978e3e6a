#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "convoke/nn/layers/axis.hpp"
#include "convoke/nn/layers/resize.hpp"
#include "interop/onnx/emission.hpp"

namespace convoke::interop {
namespace {

using Integers = std::vector<std::int64_t>;

// The position of the layer's axis behind the batch.
std::int64_t axis_behind_batch(const Emission& e) {
  return static_cast<std::int64_t>(nn::Axis(e.settings.text("axis")).in(e.input_shape())) + 1;
}

// An output pixel of "nearest" lies between two input pixels, and only an exact quotient decides: Resize
// computes in fp32, which is exact for powers of two.
bool rounds_badly(std::int64_t in, std::int64_t out) {
  if (in % out == 0 && std::has_single_bit(static_cast<std::uint64_t>(in / out))) return false;
  for (std::int64_t o = 0; o < out; ++o) {
    if ((2 * o + 1) * in % (2 * out) == 0) return true;
  }
  return false;
}

std::string nearest_places(Emission& e, const nn::Resize& layer, std::int64_t in, std::int64_t out) {
  Integers places;
  for (std::int64_t o = 0; o < out; ++o) places.push_back(layer.nearest_pixel(o, in, out));
  return e.integers("places", places);
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

void emit_resize(Emission& e) {
  const Shape& in = e.input_shape();
  const Shape& out = e.node.shape;
  const auto& layer = dynamic_cast<const nn::Resize&>(*e.node.layer);
  const bool nearest = e.settings.text("method") == "nearest";
  // Both are stored if they are not the defaults. Their names are ONNX's.
  const std::string centres = e.settings.text("centres"), rounding = e.settings.text("rounding");
  const bool usual = centres.empty() && rounding.empty();
  if (nearest && (!usual || rounds_badly(in[1], out[1]) || rounds_badly(in[2], out[2]))) {
    const std::string rows =
        e.op("Gather", {e.input(), nearest_places(e, layer, in[1], out[1])}, {{"axis", std::int64_t{2}}});
    return e.result("Gather", {rows, nearest_places(e, layer, in[2], out[2])}, {{"axis", std::int64_t{3}}});
  }
  // floor(x + 1/2) of the half-pixel position x is our nearest pixel.
  OnnxAttributes attributes{{"coordinate_transformation_mode", centres.empty() ? "half_pixel" : centres},
                            {"mode", std::string(nearest ? "nearest" : "linear")}};
  if (nearest) attributes.push_back({"nearest_mode", std::string("round_prefer_ceil")});
  const std::string scales = e.constant("scales", {4}, [in, out] {
    return std::vector<float>{1, 1, scale_to(in[1], out[1]), scale_to(in[2], out[2])};
  });
  e.result("Resize", {e.input(), "", scales}, attributes);
}

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

}  // namespace convoke::interop
