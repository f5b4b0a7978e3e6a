#include <array>

#include "interop/onnx/emission.hpp"
#include "interop/tensor.hpp"

namespace convoke::interop::onnx_export {
namespace {

using Integers = std::vector<std::int64_t>;

OnnxAttributes attributes_of(const std::vector<WindowAxis>& axes, std::int64_t groups) {
  Integers dilations;
  for (const WindowAxis& axis : axes) dilations.push_back(axis.dilation);
  OnnxAttributes attributes{{"dilations", dilations}, {"group", groups}};
  for (OnnxAttribute& attribute : window_attributes(axes)) attributes.push_back(std::move(attribute));
  return attributes;
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
  const Shape& in = e.input_shape();
  const std::int64_t filters = e.node.shape[0], groups = e.settings.integer("groups");
  const auto axes = transposed_windows_of(e.settings, in, e.node.shape);
  OnnxAttributes attributes = attributes_of(axes, groups);
  attributes.push_back({"output_padding", Integers{axes[0].beyond, axes[1].beyond}});
  // (filters, C / groups, kh, kw) -> (C, filters / groups, kh, kw): within each group, both axes swap.
  const std::int64_t outputs = filters / groups, inputs = in[0] / groups,
                     area = axes[0].kernel * axes[1].kernel;
  const auto swap = [=, values = e.values_of("weight")] {
    std::vector<float> swapped(values.size());
    permute(values, {groups, outputs, inputs, area}, std::array<std::size_t, 4>{0, 2, 1, 3}, swapped);
    return swapped;
  };
  std::vector<std::string> operands{e.input(),
                                    e.made_weight("weight", kernel_shape(in[0], outputs, axes), swap)};
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
