#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "convoke/nn/layers/axis.hpp"
#include "convoke/nn/layers/resize.hpp"
#include "interop/keras/composition.hpp"

namespace convoke::interop::keras_export {
namespace {

using Integers = std::vector<std::int64_t>;

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
    const std::size_t value = values.back();
    values.pop_back();
    bool read = false;
    for (const nn::Node& node : graph.nodes()) {
      if (std::find(node.inputs.begin(), node.inputs.end(), value) == node.inputs.end()) continue;
      read = true;
      const std::string_view type = node.layer->type();
      if (type == "dense" && !graph.shares(node)) continue;
      if (type != "dropout" && type != "relu" && type != "identity") return false;
      values.push_back(node.index);
    }
    if (!read) return false;  // the network's output
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
    for (const nn::Node& node : c.model().graph.nodes()) {
      const bool reads = std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end();
      if (reads && node.layer->type() != "dense") values.push_back(node.index);
    }
  }
}

// An image as its elements lie here, channels first.
KerasTensor channels_first(Composition& c, const KerasTensor& image) {
  const bool moves = image.shape[2] > 1 && image.shape[0] * image.shape[1] > 1;
  return moves ? c.permute("channels_first", image, kToChannelsFirst) : image;
}

}  // namespace

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
  std::vector<KerasTensor> inputs;
  for (std::size_t i = 0; i < c.input_count(); ++i) inputs.push_back(c.unmasked(c.input(i)));
  const std::int64_t axis = keras_axis(c, nn::Axis(c.settings.text("axis")).in(c.input_shape()));
  return c.layer("", "Concatenate", {{"axis", axis}}, std::move(inputs), c.output());
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

namespace {

// A frozen Dense layer multiplies the last axis. `dims` moves the axis there, and is its own inverse.
KerasTensor mix_along(Composition& c, const std::string& part, const KerasTensor& x, const AxisMatrix& matrix,
                      const std::vector<std::int64_t>& dims) {
  const KerasTensor last = c.permute(part + "_last", x, dims);
  std::vector<std::int64_t> extents = last.shape.extents();
  extents.back() = matrix.outputs;
  const KerasTensor mixed =
      c.constant_dense(part, last, {matrix.inputs, matrix.outputs}, matrix.make, Shape(extents));
  return c.permute(part + "_back", mixed, dims);
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

}  // namespace

KerasTensor mix(Composition& c, const KerasTensor& image, const AxisMatrix& rows, const AxisMatrix& columns) {
  const KerasTensor narrow = mix_along(c, "columns", image, columns, {1, 3, 2});
  return mix_along(c, "rows", narrow, rows, {3, 2, 1});
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

}  // namespace convoke::interop::keras_export
