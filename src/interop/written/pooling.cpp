#include <algorithm>
#include <array>

#include "convoke/nn/losses/outputs.hpp"
#include "interop/keras/composition.hpp"
#include "interop/layer_tables.hpp"
#include "interop/onnx/emission.hpp"
#include "interop/tensor.hpp"

// How pooling layers are written.

namespace convoke::interop {
namespace {

using namespace keras_export;
using namespace onnx_export;

// True if a window lies partly where `ceil` adds positions.
bool beyond(const WindowAxes& axes) { return any_above(axes, &WindowAxis::beyond, 0); }
bool padded(const WindowAxes& axes) {
  return any_above(axes, &WindowAxis::before, 0) || any_above(axes, &WindowAxis::after, 0);
}

// Windows of one size that tile the image; nothing if they are uneven.
WindowAxes tiles(const Shape& in, const Shape& out) {
  if (in[1] % out[1] != 0 || in[2] % out[2] != 0) return {};
  const std::int64_t rows = in[1] / out[1], columns = in[2] / out[2];
  return {{.kernel = rows, .stride = rows}, {.kernel = columns, .stride = columns}};
}

// y = rows x columns for each channel, with (height, H) (H, W) (W, width).
void mean_by_matrices(Emission& e) {
  const Shape in = e.input_shape(), out = e.node.shape;
  const auto columns = e.constant("columns", {in[2], out[2]},
                                  [=] { return mean_matrix(in[2], adaptive_windows(in[2], out[2])); });
  const auto rows = e.constant("rows", {out[1], in[1]}, [=] {
    const std::vector<float> matrix = mean_matrix(in[1], adaptive_windows(in[1], out[1]));
    std::vector<float> transposed(matrix.size());
    permute(matrix, {in[1], out[1]}, std::array<std::size_t, 2>{1, 0}, transposed);
    return transposed;
  });
  e.result("MatMul", {rows, e.op("MatMul", {e.input(), columns})});
}

// The maximum of each window along one axis, joined again.
std::vector<std::string> maxima(Emission& e, const std::string& value, std::int64_t axis, std::int64_t inputs,
                                std::int64_t outputs) {
  std::vector<std::string> parts;
  const std::string along = e.integers("axis", {axis});
  for (const PoolWindow& window : adaptive_windows(inputs, outputs)) {
    const std::string part =
        e.op("Slice", {value, e.integers("begin", {window.begin}), e.integers("end", {window.end}), along});
    parts.push_back(e.op("ReduceMax", {part}, {{"axes", Integers{axis}}, {"keepdims", std::int64_t{1}}}));
  }
  return parts;
}

void maximum_by_windows(Emission& e) {
  const Shape in = e.input_shape(), out = e.node.shape;
  const std::string rows =
      e.op("Concat", maxima(e, e.input(), 2, in[1], out[1]), {{"axis", std::int64_t{2}}});
  e.result("Concat", maxima(e, rows, 3, in[2], out[2]), {{"axis", std::int64_t{3}}});
}

void emit_max_pool(Emission& e) {
  const auto axes = windows_of(e.settings, e.input_shape());
  e.result_channels_first("MaxPool", {e.channels_first()}, window_attributes(axes));
}

void emit_average_pool(Emission& e) {
  auto axes = windows_of(e.settings, e.input_shape());
  std::string value = e.channels_first();
  const bool counts = e.settings.flag("count_padding"), ceil = beyond(axes);
  OnnxAttributes attributes = window_attributes(axes);
  if (counts && ceil) {
    // Padding counts, but positions that `ceil` adds do not: only the former become zeroes.
    Integers before{0, 0}, after{0, 0};
    for (WindowAxis& axis : axes) {
      before.push_back(axis.before);
      after.push_back(axis.after - axis.beyond);
      axis.before = 0;
      axis.after = axis.beyond;
    }
    before.insert(before.end(), after.begin(), after.end());
    value = e.op("Pad", {value, e.integers("pads", before)});
    attributes = window_attributes(axes);
  }
  attributes.push_back({"count_include_pad", std::int64_t{counts && !ceil}});
  e.result_channels_first("AveragePool", {value}, attributes);
}

void emit_global_pool(Emission& e) {
  const bool maximum = e.settings.type().starts_with("global_max");
  const Integers axes = e.input_shape().rank() == 3 ? Integers{2, 3} : Integers{1};
  e.result(maximum ? "ReduceMax" : "ReduceMean", {e.input()},
           {{"axes", axes}, {"keepdims", std::int64_t{0}}});
}

void emit_adaptive_pool(Emission& e) {
  const bool maximum = e.settings.type() == "adaptive_max_pool";
  const WindowAxes axes = tiles(e.input_shape(), e.node.shape);
  if (axes.empty()) return maximum ? maximum_by_windows(e) : mean_by_matrices(e);
  const Integers size{axes[0].kernel, axes[1].kernel};
  e.result(maximum ? "MaxPool" : "AveragePool", {e.input()}, {{"kernel_shape", size}, {"strides", size}});
}

using Windows = std::vector<PoolWindow>;

Windows windows_along(const WindowAxis& axis, bool counts_padding) {
  Windows all;
  for (std::int64_t o = 0; o < axis.output; ++o) {
    const std::int64_t begin = o * axis.stride - axis.before, end = begin + axis.kernel;
    PoolWindow window{std::max<std::int64_t>(0, begin), std::min(end, axis.input), 0};
    const std::int64_t counted = std::min(end, axis.input + axis.after - axis.beyond) - begin;
    window.divisor = counts_padding ? counted : window.end - window.begin;
    all.push_back(window);
  }
  return all;
}

// The matrix by which means along an axis are a product.
AxisMatrix means(std::int64_t inputs, const Windows& windows) {
  return {inputs, std::ssize(windows), [=] { return mean_matrix(inputs, windows); }};
}

KerasTensor means_over(Composition& c, const KerasTensor& image, const Windows& rows,
                       const Windows& columns) {
  return mix(c, image, means(image.shape[0], rows), means(image.shape[1], columns));
}

Json pool_config(const WindowAxes& axes, std::string_view padding) {
  return {{"pool_size", extents_of(axes, &WindowAxis::kernel)},
          {"strides", extents_of(axes, &WindowAxis::stride)},
          {"padding", padding},
          {"data_format", "channels_last"}};
}

// A sequence (L, F) as an image (L, 1, F), for windows that Keras' 1-D layers do not have.
struct ImageForm {
  WindowAxes axes;
  KerasTensor x;
};
ImageForm as_image_form(Composition& c, WindowAxes axes) {
  if (axes.size() == 2) return {axes, c.input()};
  const Shape& shape = c.input().shape;
  axes.push_back({.input = 1, .output = 1});
  return {axes, c.reshape("image", c.input(), {shape[0], 1, shape[1]})};
}
KerasTensor from_image_form(Composition& c, const KerasTensor& y) {
  return c.node.shape.rank() == 3 ? y : c.reshape("sequence", y, c.output());
}

// Padding that never is a maximum. Keras only pads with zeroes: x - relu(1e30 - 1e30 m), where m is 1 inside
// and 0 in the border, is exactly x inside. Without the relu, TensorFlow's graphs would add the constants to
// x one after the other, which leaves nothing of x. keras/window_layers.cpp reads this form.
KerasTensor pad_below(Composition& c, const KerasTensor& x, const nn::Border& border) {
  constexpr double kLow = 1e30;
  const KerasTensor ones = c.layer("ones", "Rescaling", {{"scale", 0.0}, {"offset", 1.0}}, x, x.shape);
  const KerasTensor inside = c.zero_pad(ones, border);
  const KerasTensor outside =
      c.layer("outside", "Rescaling", {{"scale", -kLow}, {"offset", kLow}}, inside, inside.shape);
  const KerasTensor depth = c.layer("depth", "ReLU", Json::object(), outside, inside.shape);
  return c.layer("padded", "Subtract", Json::object(), {c.zero_pad(x, border), depth}, inside.shape);
}

KerasTensor largest_along(Composition& c, const KerasTensor& x, const Windows& windows, std::size_t axis) {
  std::vector<KerasTensor> parts;
  for (const PoolWindow& window : windows) {
    nn::Border border;
    (axis == 0 ? border.before.height : border.before.width) = window.begin;
    (axis == 0 ? border.after.height : border.after.width) = x.shape[axis] - window.end;
    const KerasTensor part = c.crop("window", x, border);
    std::vector<std::int64_t> size{1, 1}, extents = x.shape.extents();
    size[axis] = window.end - window.begin;
    extents[axis] = 1;
    parts.push_back(c.layer("largest", "MaxPooling2D",
                            {{"pool_size", size}, {"strides", size}, {"padding", "valid"}}, part,
                            Shape(extents)));
  }
  if (parts.size() == 1) return parts[0];
  std::vector<std::int64_t> extents = x.shape.extents();
  extents[axis] = std::ssize(windows);
  return c.layer("joined", "Concatenate", {{"axis", axis + 1}}, parts, Shape(extents));
}

KerasTensor compose_max_pool(Composition& c) {
  const WindowAxes axes = windows_of(c.settings, c.input_shape());
  const bool same = c.settings.text("padding") == "same";
  const std::string_view name = axes.size() == 2 ? "MaxPooling2D" : "MaxPooling1D";
  if (same || !padded(axes)) {
    return c.layer("", name, pool_config(axes, same ? "same" : "valid"), c.input(), c.output());
  }
  const ImageForm form = as_image_form(c, axes);
  const nn::Border border = border_of(form.axes);
  const bool plain = nn::never_negative(c.model().graph, c.node.inputs[0]);
  const KerasTensor x = plain ? c.zero_pad(form.x, border) : pad_below(c, form.x, border);
  const Shape output{form.axes[0].output, form.axes[1].output, c.channels()};
  return from_image_form(c, c.layer("", "MaxPooling2D", pool_config(form.axes, "valid"), x, output));
}

KerasTensor compose_average_pool(Composition& c) {
  const WindowAxes axes = windows_of(c.settings, c.input_shape());
  const bool same = c.settings.text("padding") == "same", counts = c.settings.flag("count_padding");
  if (!padded(axes) || (same && !counts)) {
    return c.layer("", axes.size() == 2 ? "AveragePooling2D" : "AveragePooling1D",
                   pool_config(axes, same ? "same" : "valid"), c.input(), c.output());
  }
  const ImageForm form = as_image_form(c, axes);
  const Shape output{form.axes[0].output, form.axes[1].output, c.channels()};
  if (counts && !beyond(axes)) {
    const KerasTensor x = c.zero_pad(form.x, border_of(form.axes));
    return from_image_form(c, c.layer("", "AveragePooling2D", pool_config(form.axes, "valid"), x, output));
  }
  return from_image_form(
      c, means_over(c, form.x, windows_along(form.axes[0], counts), windows_along(form.axes[1], counts)));
}

KerasTensor compose_adaptive_pool(Composition& c) {
  const Shape &in = c.input_shape(), &out = c.node.shape;
  const bool maximum = c.settings.type() == "adaptive_max_pool";
  if (const WindowAxes axes = tiles(in, out); !axes.empty()) {
    return c.layer("", maximum ? "MaxPooling2D" : "AveragePooling2D", pool_config(axes, "valid"), c.input(),
                   c.output());
  }
  const Windows rows = adaptive_windows(in[1], out[1]), columns = adaptive_windows(in[2], out[2]);
  if (!maximum) return means_over(c, c.input(), rows, columns);
  return largest_along(c, largest_along(c, c.input(), rows, 0), columns, 1);
}

KerasTensor compose_global_pool(Composition& c) {
  const bool image = c.input_shape().rank() == 3, maximum = c.settings.type().starts_with("global_max");
  const std::string name =
      std::string(maximum ? "GlobalMaxPooling" : "GlobalAveragePooling") + (image ? "2D" : "1D");
  return c.layer("", name, {{"data_format", "channels_last"}, {"keepdims", false}}, c.unmasked(c.input()),
                 c.output());
}

}  // namespace

const std::initializer_list<WrittenLayer> kWrittenPoolings{
    WrittenLayer{"adaptive_average_pool", emit_adaptive_pool, compose_adaptive_pool},
    WrittenLayer{"adaptive_max_pool", emit_adaptive_pool, compose_adaptive_pool},
    WrittenLayer{"average_pool", emit_average_pool, compose_average_pool},
    WrittenLayer{"average_pool1d", emit_average_pool, compose_average_pool},
    WrittenLayer{"global_average_pool", emit_global_pool, compose_global_pool},
    WrittenLayer{"global_average_pool1d", emit_global_pool, compose_global_pool},
    WrittenLayer{"global_max_pool", emit_global_pool, compose_global_pool},
    WrittenLayer{"global_max_pool1d", emit_global_pool, compose_global_pool},
    WrittenLayer{"max_pool", emit_max_pool, compose_max_pool},
    WrittenLayer{"max_pool1d", emit_max_pool, compose_max_pool},
};

}  // namespace convoke::interop
