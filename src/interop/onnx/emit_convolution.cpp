#include <algorithm>

#include "interop/onnx/emission.hpp"

namespace convoke::interop::onnx_export {
namespace {

using Integers = std::vector<std::int64_t>;

// Our padding becomes explicit: the input's size is known, and old auto_pad modes are read differently.
OnnxAttributes attributes_of(const std::vector<WindowAxis>& axes, std::int64_t groups) {
  Integers kernel, strides, dilations, pads;
  for (const WindowAxis& axis : axes) {
    kernel.push_back(axis.kernel);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    pads.push_back(axis.before);
  }
  for (const WindowAxis& axis : axes) pads.push_back(axis.after);
  return {{"dilations", dilations},
          {"group", groups},
          {"kernel_shape", kernel},
          {"pads", pads},
          {"strides", strides}};
}

Shape kernel_shape(std::int64_t filters, std::int64_t inputs, const std::vector<WindowAxis>& axes) {
  Integers extents{filters, inputs};
  for (const WindowAxis& axis : axes) extents.push_back(axis.kernel);
  return Shape(extents);
}

void convolve(Emission& e, std::int64_t filters, std::int64_t groups) {
  const auto axes = windows_of(e.settings, e.input_shape());
  std::vector<std::string> inputs{
      e.channels_first(), e.weight("weight", "weight", kernel_shape(filters, e.channels() / groups, axes))};
  if (e.settings.flag("bias")) inputs.push_back(e.weight("bias", "bias", {filters}));
  e.result_channels_first("Conv", std::move(inputs), attributes_of(axes, groups));
}

// ConvTranspose along one axis: output = (input - 1) stride + span - before - after + output_padding.
WindowAxis transposed_axis(std::int64_t input, std::int64_t output, WindowAxis axis,
                           const nn::Padding& padding, std::int64_t before) {
  const std::int64_t reach = (input - 1) * axis.stride + axis.span();
  const bool same = padding.kind == nn::Padding::Kind::kSame;
  axis.before = same ? std::max<std::int64_t>(0, reach - output) / 2 : before;
  axis.after = reach - output - axis.before;  // negative: output_padding
  return axis;
}

}  // namespace

void emit_convolution(Emission& e) {
  convolve(e, e.settings.integer("filters"), e.settings.integer("groups"));
}

void emit_depthwise_convolution(Emission& e) {
  convolve(e, e.channels() * e.settings.integer("multiplier"), e.channels());
}

void emit_separable_convolution(Emission& e) {
  const std::int64_t inner = e.channels() * e.settings.integer("multiplier");
  const std::int64_t filters = e.settings.integer("filters");
  const auto axes = windows_of(e.settings, e.input_shape());
  const std::string depthwise = e.op(
      "Conv", {e.input(), e.weight("depthwise_weight", "depthwise_weight", kernel_shape(inner, 1, axes))},
      attributes_of(axes, e.channels()));
  std::vector<std::string> inputs{depthwise,
                                  e.weight("pointwise_weight", "pointwise_weight", {filters, inner, 1, 1})};
  if (e.settings.flag("bias")) inputs.push_back(e.weight("bias", "bias", {filters}));
  e.result("Conv", std::move(inputs), {{"kernel_shape", Integers{1, 1}}});
}

void emit_transposed_convolution(Emission& e) {
  const nn::Extent kernel = e.settings.extent("kernel"), stride = e.settings.extent("stride");
  const nn::Extent dilation = e.settings.extent("dilation");
  const nn::Padding padding = e.settings.padding("padding");
  const Shape& in = e.input_shape();
  const Shape& out = e.node.shape;
  const std::int64_t filters = out[0], groups = e.settings.integer("groups");
  std::vector<WindowAxis> axes{
      transposed_axis(in[1], out[1],
                      {.kernel = kernel.height, .stride = stride.height, .dilation = dilation.height},
                      padding, padding.before.height),
      transposed_axis(in[2], out[2],
                      {.kernel = kernel.width, .stride = stride.width, .dilation = dilation.width}, padding,
                      padding.before.width)};
  Integers extra;
  for (WindowAxis& axis : axes) {
    extra.push_back(std::max<std::int64_t>(0, -axis.after));
    axis.after = std::max<std::int64_t>(0, axis.after);
  }
  OnnxAttributes attributes = attributes_of(axes, groups);
  attributes.push_back({"output_padding", extra});
  // (filters, C / groups, kh, kw) -> (C, filters / groups, kh, kw): within each group, both axes swap.
  const std::size_t area = static_cast<std::size_t>(kernel.height * kernel.width);
  const auto outputs = static_cast<std::size_t>(filters / groups),
             inputs = static_cast<std::size_t>(in[0] / groups);
  const auto swap = [=, values = e.values_of("weight")] {
    std::vector<float> swapped(values.size());
    for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g)
      for (std::size_t o = 0; o < outputs; ++o)
        for (std::size_t i = 0; i < inputs; ++i)
          std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(((g * outputs + o) * inputs + i) * area),
                      area,
                      swapped.begin() + static_cast<std::ptrdiff_t>(((g * inputs + i) * outputs + o) * area));
    return swapped;
  };
  std::vector<std::string> operands{
      e.input(), e.made_weight("weight", {in[0], filters / groups, kernel.height, kernel.width}, swap)};
  if (e.settings.flag("bias")) operands.push_back(e.weight("bias", "bias", {filters}));
  e.result("ConvTranspose", std::move(operands), attributes);
}

void emit_dense(Emission& e) {
  const std::int64_t units = e.settings.integer("units");
  std::vector<std::string> inputs{e.input(), e.weight("weight", "weight", {units, e.channels()})};
  if (e.settings.flag("bias")) inputs.push_back(e.weight("bias", "bias", {units}));
  e.result("Gemm", std::move(inputs), {{"transB", std::int64_t{1}}});
}

}  // namespace convoke::interop::onnx_export
