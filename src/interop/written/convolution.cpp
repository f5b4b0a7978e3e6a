#include <algorithm>

#include "interop/keras/composition.hpp"
#include "interop/layer_tables.hpp"
#include "interop/onnx/emission.hpp"
#include "interop/tensor.hpp"

// How convolutions and dense layers are written.

namespace convoke::interop {
namespace {

using namespace keras_export;
using namespace onnx_export;

OnnxAttributes attributes_of(const WindowAxes& axes, std::int64_t groups) {
  Integers dilations;
  for (const WindowAxis& axis : axes) dilations.push_back(axis.dilation);
  OnnxAttributes attributes{{"dilations", dilations}, {"group", groups}};
  for (OnnxAttribute& attribute : window_attributes(axes)) attributes.push_back(std::move(attribute));
  return attributes;
}

Shape kernel_shape(std::int64_t filters, std::int64_t inputs, const WindowAxes& axes) {
  Integers extents{filters, inputs};
  for (const WindowAxis& axis : axes) extents.push_back(axis.kernel);
  return Shape(extents);
}

// The operands of a layer with the bias, if it has one.
std::vector<std::string> with_bias(Emission& e, std::vector<std::string> operands, std::int64_t filters) {
  if (e.settings.flag("bias")) operands.push_back(e.weight("bias", "bias", {filters}));
  return operands;
}

void convolve(Emission& e, std::int64_t filters, std::int64_t groups) {
  const auto axes = windows_of(e.settings, e.input_shape());
  std::vector<std::string> inputs{
      e.channels_first(), e.weight("weight", "weight", kernel_shape(filters, e.channels() / groups, axes))};
  e.result_channels_first("Conv", with_bias(e, std::move(inputs), filters), attributes_of(axes, groups));
}

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
  e.result("Conv", with_bias(e, std::move(inputs), filters), {{"kernel_shape", Integers{1, 1}}});
}

void emit_transposed_convolution(Emission& e) {
  const Shape& in = e.input_shape();
  const std::int64_t filters = e.node.shape[0], groups = e.settings.integer("groups");
  const auto axes = transposed_windows_of(e.settings, in, e.node.shape);
  OnnxAttributes attributes = attributes_of(axes, groups);
  attributes.push_back({"output_padding", Integers{axes[0].beyond, axes[1].beyond}});
  const Shape own = kernel_shape(filters, in[0] / groups, axes);
  const auto swap = [=, values = e.values_of("weight")] { return swap_channels(values, own, groups); };
  std::vector<std::string> operands{e.input(), e.made_weight("weight", swapped_channels(own, groups), swap)};
  e.result("ConvTranspose", with_bias(e, std::move(operands), filters), attributes);
}

void emit_dense(Emission& e) {
  const std::int64_t units = e.settings.integer("units");
  std::vector<std::string> inputs{e.input(), e.weight("weight", "weight", {units, e.channels()})};
  e.result("Gemm", with_bias(e, std::move(inputs), units), {{"transB", std::int64_t{1}}});
}

// How Keras is to convolve: TensorFlow has no strides with dilation, nor unequal strides for depthwise
// kernels. Then the stride is 1, and a pooling over single pixels skips the others.
struct Plan {
  WindowAxes axes;
  KerasTensor x;
  std::string padding;
  bool skips = false;
};

bool strided(const WindowAxes& axes) { return any_above(axes, &WindowAxis::stride, 1); }
bool dilated(const WindowAxes& axes) { return any_above(axes, &WindowAxis::dilation, 1); }

Plan plan_of(Composition& c, bool depthwise) {
  Plan plan{windows_of(c.settings, c.input_shape()), c.input(), c.settings.text("padding"), false};
  const WindowAxes& axes = plan.axes;
  const bool unequal = axes.size() > 1 && axes[0].stride != axes[1].stride;
  plan.skips = (strided(axes) && dilated(axes)) || (depthwise && unequal);
  return plan;
}

// Adds the padding that Keras does not know by name.
void pad(Composition& c, Plan& plan) {
  const bool named = plan.padding == "same" || plan.padding == "causal" || plan.padding == "valid";
  if (named && !plan.skips) return;
  plan.padding = "valid";
  if (plan.axes.size() == 2) {
    plan.x = c.zero_pad(plan.x, border_of(plan.axes));
    return;
  }
  const WindowAxis& axis = plan.axes[0];
  if (axis.before == 0 && axis.after == 0) return;
  plan.x = c.layer("pad", "ZeroPadding1D", {{"padding", Json::array({axis.before, axis.after})}}, plan.x,
                   {plan.x.shape[0] + axis.before + axis.after, plan.x.shape[1]});
}

Json window_config(const Plan& plan, bool bias) {
  Json strides = extents_of(plan.axes, &WindowAxis::stride);
  if (plan.skips) strides = Json(std::vector<int>(plan.axes.size(), 1));
  return {{"kernel_size", extents_of(plan.axes, &WindowAxis::kernel)},
          {"strides", strides},
          {"padding", plan.padding},
          {"data_format", "channels_last"},
          {"dilation_rate", extents_of(plan.axes, &WindowAxis::dilation)},
          {"activation", "linear"},
          {"use_bias", bias}};
}

// The output of the convolution, before pixels are skipped.
Shape convolved(const Plan& plan, std::int64_t filters) {
  std::vector<std::int64_t> extents;
  for (const WindowAxis& a : plan.axes) {
    extents.push_back(plan.skips ? a.input + a.before + a.after - a.span() + 1 : a.output);
  }
  extents.push_back(filters);
  return Shape(extents);
}

KerasTensor skip(Composition& c, const Plan& plan, const KerasTensor& x) {
  if (!plan.skips) return x;
  Json config{{"pool_size", Json(std::vector<int>(plan.axes.size(), 1))},
              {"strides", extents_of(plan.axes, &WindowAxis::stride)},
              {"padding", "valid"},
              {"data_format", "channels_last"}};
  return c.layer("skip", plan.axes.size() == 2 ? "MaxPooling2D" : "MaxPooling1D", std::move(config), x,
                 c.output());
}

KerasTensor depthwise(Composition& c, std::int64_t multiplier) {
  Plan plan = plan_of(c, true);
  pad(c, plan);
  Json config = window_config(plan, c.settings.flag("bias"));
  config["depth_multiplier"] = multiplier;
  return skip(c, plan,
              c.weighted("", "DepthwiseConv2D", std::move(config), c.weights("depthwise_conv2d"), plan.x,
                         convolved(plan, c.channels() * multiplier)));
}

KerasTensor convolution(Composition& c, std::string_view class_name) {
  Plan plan = plan_of(c, false);
  pad(c, plan);
  const std::int64_t filters = c.settings.integer("filters");
  Json config = window_config(plan, c.settings.flag("bias"));
  config["filters"] = filters;
  config["groups"] = c.settings.integer("groups");
  return skip(c, plan,
              c.weighted("", class_name, std::move(config), c.weights(), plan.x, convolved(plan, filters)));
}

KerasTensor compose_conv1d(Composition& c) {
  return is_in_attention(c.model().graph, c.node) ? c.input() : convolution(c, "Conv1D");
}

KerasTensor compose_conv2d(Composition& c) {
  const std::int64_t filters = c.settings.integer("filters"), groups = c.settings.integer("groups");
  return groups > 1 && groups == c.channels() ? depthwise(c, filters / groups) : convolution(c, "Conv2D");
}

KerasTensor compose_depthwise_conv2d(Composition& c) {
  return depthwise(c, c.settings.integer("multiplier"));
}

KerasTensor compose_separable_conv2d(Composition& c) {
  const std::int64_t filters = c.settings.integer("filters"), multiplier = c.settings.integer("multiplier");
  const std::int64_t inner = c.channels() * multiplier;
  Plan plan = plan_of(c, true);
  pad(c, plan);
  Json config = window_config(plan, c.settings.flag("bias"));
  config["depth_multiplier"] = multiplier;
  std::vector<KerasWeight> weights = c.weights();
  if (!plan.skips) {
    config["filters"] = filters;
    return c.weighted("", "SeparableConv2D", std::move(config), std::move(weights), plan.x, c.output());
  }
  config["use_bias"] = false;
  const KerasTensor spread = skip(c, plan,
                                  c.weighted("depthwise", "DepthwiseConv2D", std::move(config), {weights[0]},
                                             plan.x, convolved(plan, inner)));
  weights.erase(weights.begin());
  weights[0].name = "kernel";
  return c.weighted(
      "", "Conv2D",
      {{"filters", filters}, {"kernel_size", Json::array({1, 1})}, {"use_bias", c.settings.flag("bias")}},
      std::move(weights), spread, c.output());
}

// The transposed convolution of some channels to some filters. `part`: for the names of its layers.
KerasTensor transposed(Composition& c, const KerasTensor& x, std::vector<KerasWeight> weights,
                       const std::string& part) {
  const nn::Padding padding = c.settings.padding("padding");
  const WindowAxes axes = transposed_windows_of(c.settings, c.input_shape(), c.node.shape);
  if (strided(axes) && dilated(axes)) c.refuse("with both a stride and a dilation above 1");
  Shape out{c.output()[0], c.output()[1], weights[0].shape[2]};
  Json config{{"filters", out[2]},
              {"kernel_size", extents_of(axes, &WindowAxis::kernel)},
              {"strides", extents_of(axes, &WindowAxis::stride)},
              {"padding", padding.kind == nn::Padding::Kind::kSame ? "same" : "valid"},
              {"output_padding", nullptr},
              {"data_format", "channels_last"},
              {"dilation_rate", extents_of(axes, &WindowAxis::dilation)},
              {"activation", "linear"},
              {"use_bias", c.settings.flag("bias")}};
  if (c.settings.text("output_padding") == "auto" && padding.kind != nn::Padding::Kind::kExplicit) {
    return c.weighted(part, "Conv2DTranspose", std::move(config), std::move(weights), x, out);
  }
  // Without padding, Keras' output begins where ours does before rows are cut off.
  const nn::Border cut = border_of(axes);
  config["padding"] = "valid";
  config["output_padding"] = extents_of(axes, &WindowAxis::beyond);
  out = {out[0] + cut.before.height + cut.after.height, out[1] + cut.before.width + cut.after.width, out[2]};
  const KerasTensor whole =
      c.weighted(part, "Conv2DTranspose", std::move(config), std::move(weights), x, out);
  return c.crop(part.empty() ? "crop" : part + "_crop", whole, cut);
}

// The channels first .. first + count - 1 of an image: Keras crops its first two axes.
KerasTensor channels_of_group(Composition& c, const std::string& part, std::int64_t first,
                              std::int64_t count) {
  const KerasTensor rows = c.permute(part + "_rows", c.input(), {3, 1, 2});
  const std::int64_t after = rows.shape[0] - first - count;
  const KerasTensor own = c.crop(part + "_channels", rows, {nn::Extent(first, 0), nn::Extent(after, 0)});
  return c.permute(part + "_image", own, {2, 3, 1});
}

// Keras' layer has no groups: each group becomes a layer.
KerasTensor compose_conv2d_transpose(Composition& c) {
  const std::int64_t groups = c.settings.integer("groups");
  const std::int64_t filters = c.output()[2] / groups, channels = c.channels() / groups;
  const nn::Extent kernel = c.settings.extent("kernel");
  const auto values = c.values_of("weight");
  std::vector<KerasTensor> results;
  for (std::int64_t g = 0; g < groups; ++g) {
    const auto of_group = [&](std::span<const float> all) {
      const std::size_t size = all.size() / static_cast<std::size_t>(groups);
      return all.subspan(size * static_cast<std::size_t>(g), size);
    };
    std::vector<KerasWeight> weights{weight_of(
        of_group(values), "kernel", {filters, channels, kernel.height, kernel.width}, {2, 3, 0, 1})};
    if (c.settings.flag("bias"))
      weights.push_back(weight_of(of_group(c.values_of("bias")), "bias", {filters}, {0}));
    if (groups == 1) return transposed(c, c.input(), std::move(weights), "");
    const std::string part = "group_" + std::to_string(g);
    const KerasTensor x = channels_of_group(c, part, g * channels, channels);
    results.push_back(transposed(c, x, std::move(weights), part));
  }
  return c.layer("", "Concatenate", {{"axis", 3}}, std::move(results), c.output());
}

KerasTensor compose_dense(Composition& c) {
  const std::int64_t units = c.settings.integer("units"), features = c.channels();
  Json config{{"units", units}, {"activation", "linear"}, {"use_bias", c.settings.flag("bias")}};
  std::vector<KerasWeight> weights = c.weights();
  const auto image = c.model().unordered.find(c.node.inputs[0]);
  if (image != c.model().unordered.end()) {  // its features are (H, W, C) in Keras
    const Shape& of = image->second;
    weights[0] = weight_of(c.values_of("weight"), "kernel", {units, of[0], of[1], of[2]}, {2, 3, 1, 0});
    weights[0].shape = {features, units};
  }
  return c.weighted("", "Dense", std::move(config), std::move(weights), c.input(), c.output());
}

}  // namespace

const std::initializer_list<WrittenLayer> kWrittenConvolutions{
    WrittenLayer{"conv1d", emit_convolution, compose_conv1d},
    WrittenLayer{"conv2d", emit_convolution, compose_conv2d},
    WrittenLayer{"conv2d_transpose", emit_transposed_convolution, compose_conv2d_transpose},
    WrittenLayer{"dense", emit_dense, compose_dense},
    WrittenLayer{"depthwise_conv2d", emit_depthwise_convolution, compose_depthwise_conv2d},
    WrittenLayer{"separable_conv2d", emit_separable_convolution, compose_separable_conv2d},
};

}  // namespace convoke::interop
