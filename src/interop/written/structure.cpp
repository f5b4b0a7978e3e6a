#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "convoke/nn/layers/axes.hpp"
#include "convoke/nn/layers/resampling.hpp"
#include "interop/keras/composition.hpp"
#include "interop/layer_tables.hpp"
#include "interop/onnx/emission.hpp"

// How layers that move values without changing them are written.

namespace convoke::interop {
namespace {

using namespace keras_export;
using namespace onnx_export;

// The position of the layer's axis behind the batch.
std::int64_t axis_behind_batch(const Emission& e) {
  return static_cast<std::int64_t>(nn::Axis(e.settings.text("axis")).in(e.input_shape())) + 1;
}

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

void emit_concat(Emission& e) { e.result("Concat", e.inputs(), {{"axis", axis_behind_batch(e)}}); }

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

const Integers kToChannelsFirst{3, 1, 2}, kToChannelsLast{2, 3, 1};

// The position of an axis of ours, counted from 1 behind the batch, in Keras' order.
std::int64_t keras_axis(const Composition& c, std::size_t axis) {
  if (c.input_shape().rank() != 3) return static_cast<std::int64_t>(axis) + 1;
  return axis == 0 ? 3 : static_cast<std::int64_t>(axis);
}

// Only dense layers read this node's value, possibly through layers that treat all features alike: then their
// weights can be reordered instead of the features.
bool only_dense_layers_read(const nn::Graph& graph, std::size_t index) {
  std::vector<std::size_t> values{index};
  while (!values.empty()) {
    const std::vector<const nn::Node*> readers = readers_of(graph, values.back());
    values.pop_back();
    if (readers.empty()) return false;  // the network's output
    for (const nn::Node* node : readers) {
      const std::string_view type = node->layer->type();
      if (type == "dense" && !graph.shares(*node)) continue;
      if (type != "dropout" && type != "relu" && type != "identity") return false;
      values.push_back(node->index);
    }
  }
  return true;
}

// Marks a value, and what passes it on, as in Keras' order of an image's elements.
void mark_unordered(Composition& c, const Shape& image) {
  std::vector<std::size_t> values{c.node.index};
  while (!values.empty()) {
    const std::size_t value = values.back();
    values.pop_back();
    c.model().unordered[value] = image;
    for (const nn::Node* node : readers_of(c.model().graph, value)) {
      if (node->layer->type() != "dense") values.push_back(node->index);
    }
  }
}

// An image as its elements lie here, channels first.
KerasTensor channels_first(Composition& c, const KerasTensor& image) {
  const bool moves = image.shape[2] > 1 && image.shape[0] * image.shape[1] > 1;
  return moves ? c.permute("channels_first", image, kToChannelsFirst) : image;
}

KerasTensor compose_multiply(Composition& c) {
  std::vector<KerasTensor> inputs;
  const std::size_t rank = c.node.shape.rank();
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    KerasTensor x = c.unmasked(c.input(i));
    if (x.shape.rank() < rank) {  // a factor for each channel
      x = c.reshape("factor", x, rank == 3 ? Shape{1, 1, x.shape[0]} : Shape{1, x.shape[0]});
    }
    inputs.push_back(std::move(x));
  }
  return c.layer("", "Multiply", Json::object(), std::move(inputs), c.output());
}

KerasTensor compose_concat(Composition& c) {
  const std::int64_t axis = keras_axis(c, nn::Axis(c.settings.text("axis")).in(c.input_shape()));
  return c.layer("", "Concatenate", {{"axis", axis}}, c.unmasked_inputs(), c.output());
}

KerasTensor compose_channel_shuffle(Composition& c) {
  const std::int64_t groups = c.settings.integer("groups");
  Integers split = c.input().shape.extents(), order;
  split.back() /= groups;
  split.insert(split.end() - 1, groups);
  for (std::size_t i = 0; i < split.size(); ++i) order.push_back(static_cast<std::int64_t>(i) + 1);
  std::swap(order[order.size() - 2], order.back());
  const KerasTensor grouped = c.reshape("groups", c.input(), Shape(split));
  return c.reshape("", c.permute("shuffled", grouped, order), c.output());
}

KerasTensor compose_crop(Composition& c) { return c.crop("", c.input(), c.settings.border("cropping")); }

KerasTensor compose_zero_pad(Composition& c) { return c.zero_pad(c.input(), c.settings.border("padding")); }

KerasTensor compose_identity(Composition& c) { return c.input(); }

KerasTensor compose_flatten(Composition& c) {
  KerasTensor x = c.input();
  const Shape& image = c.input_shape();
  if (image.rank() == 3) {
    const bool moves = image[0] > 1 && image[1] * image[2] > 1;
    if (moves && only_dense_layers_read(c.model().graph, c.node.index)) {
      mark_unordered(c, image);
    } else {
      x = channels_first(c, x);
    }
  }
  return c.layer("", "Flatten", {{"data_format", "channels_last"}}, x, c.output());
}

// Axis i of our output is axis dims[i] of our input; both lie in Keras' order there.
KerasTensor compose_permute(Composition& c) {
  const Integers dims = c.settings.integers("dims");
  if (dims.size() != 3) return c.permute("", c.input(), dims);
  Integers order;
  for (const std::int64_t out : kToChannelsLast) {
    order.push_back(keras_axis(c, static_cast<std::size_t>(dims[static_cast<std::size_t>(out - 1)] - 1)));
  }
  return c.permute("", c.input(), order);
}

KerasTensor compose_reshape(Composition& c) {
  KerasTensor x = c.input();
  if (x.shape.rank() == 3) x = channels_first(c, x);
  const Shape& shape = c.node.shape;
  if (shape.rank() != 3) return c.reshape("", x, shape);
  return c.permute("channels_last", c.reshape("", x, shape), kToChannelsLast);
}

// Keras crops images and sequences along their first axes; other axes are moved there, or added.
KerasTensor compose_slice(Composition& c) {
  const std::size_t axis = nn::Axis(c.settings.text("axis")).in(c.input_shape());
  const std::int64_t begin = c.settings.integer("begin");
  const std::int64_t after = c.input_shape()[axis] - begin - c.node.shape[axis];
  const KerasTensor& x = c.input();
  const auto crop_rows = [&](const KerasTensor& value, std::string_view part) {
    std::vector<std::int64_t> extents = value.shape.extents();
    extents[0] -= begin + after;
    return c.layer(part, "Cropping1D", {{"cropping", Json::array({begin, after})}}, value, Shape(extents));
  };
  if (x.shape.rank() == 1) {
    return c.reshape("", crop_rows(c.reshape("rows", x, {x.shape[0], 1}), "part"), c.output());
  }
  if (x.shape.rank() == 2) {
    if (axis == 0) return crop_rows(x, "");
    return c.permute("", crop_rows(c.permute("rows", x, {2, 1}), "part"), {2, 1});
  }
  if (axis == 0) {
    const KerasTensor rows = c.permute("rows", x, kToChannelsFirst);
    return c.permute("", c.crop("part", rows, {nn::Extent(begin, 0), nn::Extent(after, 0)}), kToChannelsLast);
  }
  const bool height = axis == 1;
  return c.crop("", x,
                {nn::Extent(height ? begin : 0, height ? 0 : begin),
                 nn::Extent(height ? after : 0, height ? 0 : after)});
}

AxisMatrix resizing(std::int64_t inputs, std::int64_t outputs, const nn::ResizeOptions& options) {
  return {inputs, outputs, [=] {
            std::vector<float> matrix(static_cast<std::size_t>(inputs * outputs));
            std::size_t o = 0;
            for (const nn::ResizedPixel& pixel : nn::resized_pixels(inputs, outputs, options)) {
              const auto at = static_cast<std::size_t>(pixel.pixel * outputs) + o++;
              matrix[at] = static_cast<float>(1 - pixel.next);
              if (pixel.next > 0)
                matrix[at + static_cast<std::size_t>(outputs)] = static_cast<float>(pixel.next);
            }
            return matrix;
          }};
}

// Keras resizes with half-pixel centers, and rounds half up where fp32 is exact: for whole factors.
KerasTensor compose_resize(Composition& c) {
  const nn::ResizeOptions& options = dynamic_cast<const nn::Resize&>(*c.node.layer).options();
  const Shape &in = c.input().shape, out = c.output();
  const bool nearest = options.method == nn::ResizeOptions::Method::kNearest;
  const bool half_pixel = options.centers == nn::ResizeOptions::Centers::kHalfPixel &&
                          options.rounding == nn::ResizeOptions::Rounding::kRoundPreferCeil;
  const bool whole = out[0] % in[0] == 0 && out[1] % in[1] == 0;
  if (half_pixel && whole) {
    return c.layer("", "UpSampling2D",
                   {{"size", Json::array({out[0] / in[0], out[1] / in[1]})},
                    {"data_format", "channels_last"},
                    {"interpolation", nearest ? "nearest" : "bilinear"}},
                   c.input(), out);
  }
  if (half_pixel && !nearest) {
    return c.layer("", "Resizing", {{"height", out[0]}, {"width", out[1]}, {"interpolation", "bilinear"}},
                   c.input(), out);
  }
  return mix(c, c.input(), resizing(in[0], out[0], options), resizing(in[1], out[1], options));
}

}  // namespace

const std::initializer_list<WrittenLayer> kWrittenStructure{
    WrittenLayer{"channel_shuffle", emit_channel_shuffle, compose_channel_shuffle},
    WrittenLayer{"concat", emit_concat, compose_concat},
    WrittenLayer{"crop", emit_crop, compose_crop},
    WrittenLayer{"flatten", emit_flatten, compose_flatten},
    WrittenLayer{"identity", nullptr, compose_identity},
    WrittenLayer{"multiply", emit_multiply, compose_multiply},
    WrittenLayer{"permute", emit_permute, compose_permute},
    WrittenLayer{"reshape", emit_reshape, compose_reshape},
    WrittenLayer{"resize", emit_resize, compose_resize},
    WrittenLayer{"slice", emit_slice, compose_slice},
    WrittenLayer{"zero_pad", emit_zero_pad, compose_zero_pad},
};

}  // namespace convoke::interop
