#include <algorithm>
#include <limits>

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

}  // namespace convoke::interop::onnx_export
