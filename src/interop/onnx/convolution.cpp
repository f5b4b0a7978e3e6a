#include <fmt/format.h>

#include <algorithm>

#include "interop/onnx/operators.hpp"

namespace convoke::interop::onnx {
namespace {

/// Returns the extents of a kernel (M, C, ...) after the channels.
std::vector<std::int64_t> kernel_of(const Call& call, const Constant& weight, const View& input) {
  const std::vector<std::int64_t>& extents = weight.shape.extents();
  if (extents.size() != input.rank() || extents.size() < 3) {
    call.refuse(fmt::format("its weight {} does not fit its input {}", weight.shape.to_string(),
                            to_string(input.dims())));
  }
  return {extents.begin() + 2, extents.end()};
}

std::optional<Constant> bias_of(Call& call, std::int64_t filters) {
  if (call.has(2)) return call.constant(2, "bias");
  return call.following_bias(1, filters);
}

/// Returns the weight (C, M / groups, ...) of a transposed convolution as ours, (M, C / groups, ...).
Constant transposed_weight(const Constant& weight, std::int64_t groups) {
  std::vector<std::int64_t> extents = weight.shape.extents();
  const std::int64_t in = extents[0] / groups, out = extents[1];
  std::vector<std::int64_t> grouped{groups, in, out};
  grouped.insert(grouped.end(), extents.begin() + 2, extents.end());
  std::vector<std::size_t> order{0, 2, 1};
  for (std::size_t axis = 3; axis < grouped.size(); ++axis) order.push_back(axis);
  extents[0] = groups * out;
  extents[1] = in;
  return weight.reshaped(Shape(grouped)).transposed(order).reshaped(Shape(extents));
}

Settings convolution(const WindowAttributes& window, std::string_view type, std::int64_t filters,
                     std::int64_t groups) {
  Settings layer = window.settings(type, "kernel");
  layer.set("filters", filters);
  layer.set("dilation", window.value(window.dilation));
  layer.set("groups", groups);
  return layer;
}

std::size_t add_convolution(Call& call, Settings layer, std::size_t from, const Constant& weight,
                            const std::optional<Constant>& bias) {
  layer.set("bias", bias.has_value());
  std::vector<Call::Weights> weights{{"weight", &weight}};
  if (bias) weights.push_back({"bias", &*bias});
  return call.add_weighted(layer, {from}, weights);
}

/// Sets the padding of a transposed convolution that gives an output_shape or auto_pad, as onnxruntime does:
/// rows beyond the wanted ones are cut off on both sides, an odd one at the end for SAME_UPPER, otherwise at
/// the beginning. Missing rows are added to `extra` for an output_shape; auto_pad adds none.
void pad_automatically(const Call& call, const View& input, WindowAttributes& window, nn::Extent& extra) {
  const std::string automatic = call.text("auto_pad", "NOTSET");
  const bool same = automatic.starts_with("SAME_"), shaped = call.has_attribute("output_shape");
  if (!same && !shaped) return;
  nn::Extent wanted(0), before(0), after(0);
  if (shaped) {
    std::vector<std::int64_t> shape = call.integers("output_shape");
    if (shape.size() == input.rank()) shape.erase(shape.begin(), shape.begin() + 2);
    wanted = extent_of(call, shape, window.sequence);
  }
  using Side = std::int64_t nn::Extent::*;
  const auto pad = [&](std::size_t axis, Side side) {
    const std::int64_t in = input.dim(axis).value, stride = window.stride.*side;
    const std::int64_t full =
        (in - 1) * stride + window.dilation.*side * (window.kernel.*side - 1) + 1 + extra.*side;
    const std::int64_t surplus = full - (shaped ? wanted.*side : in * stride);
    const std::int64_t cut = std::max<std::int64_t>(surplus, 0);
    before.*side = automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    after.*side = cut - before.*side;
    if (shaped && surplus < 0) extra.*side -= surplus;
  };
  pad(input.rank() - 1, &nn::Extent::width);
  if (!window.sequence) pad(2, &nn::Extent::height);
  window.padding = nn::Padding::by(before, after);
}

}  // namespace

void convert_convolution(Call& call) {
  const View& input = call.view(0);
  const Constant& weight = call.constant(1, "weight");
  const WindowAttributes window = read_window(call, kernel_of(call, weight, input), input);
  const std::int64_t filters = weight.shape[0], groups = call.integer("group", 1);
  const std::optional<Constant> bias = bias_of(call, filters);
  const Settings layer = convolution(window, window.sequence ? "conv1d" : "conv2d", filters, groups);
  const std::size_t from = channels_first(call, input);
  call.give(of_channels_first(call.graph(), add_convolution(call, layer, from, weight, bias)));
}

// H' = (H - 1) stride + dilation (kernel - 1) + 1 + output_padding - before - after
void convert_transposed_convolution(Call& call) {
  const View& input = call.view(0);
  const Constant& weight = call.constant(1, "weight");
  WindowAttributes window = read_window(call, kernel_of(call, weight, input), input);
  const std::int64_t groups = call.integer("group", 1);
  if (groups < 1 || weight.shape[0] % groups != 0) call.refuse(fmt::format("has {} groups", groups));
  nn::Extent extra(0);
  if (call.has_attribute("output_padding")) {
    extra = extent_of(call, call.integers("output_padding"), window.sequence);
    if (window.sequence) extra.height = 0;
  }
  pad_automatically(call, input, window, extra);
  const std::int64_t filters = weight.shape[1] * groups;
  const std::optional<Constant> bias = bias_of(call, filters);
  Constant kernel = transposed_weight(weight, groups);
  const bool sequence = std::exchange(window.sequence, false);  // as an image of one row
  if (sequence) kernel = kernel.reshaped({kernel.shape[0], kernel.shape[1], 1, kernel.shape[2]});
  const std::size_t from = sequence ? arrange(call.builder(), input, {input.axes[1], {}, input.axes[2]})
                                    : channels_first(call, input);
  Settings layer = convolution(window, "conv2d_transpose", filters, groups);
  layer.set("output_padding", window.value(extra));
  const std::size_t node = add_convolution(call, layer, from, kernel, bias);
  constexpr int kBatch = View::kBatch;
  call.give(sequence ? View::of(call.graph(), node, {kBatch, 0, 2}) : of_channels_first(call.graph(), node));
}

}  // namespace convoke::interop::onnx
