#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/nn/layer_keys.hpp"
#include "interop/onnx/operators.hpp"

namespace convoke::interop::onnx {
namespace {

/// Returns the padding of auto_pad SAME_LOWER: an odd pixel goes before the image.
nn::Padding same_lower(const WindowAttributes& window, const View& input) {
  const auto total = [](std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
    const std::int64_t out = (in + stride - 1) / stride;
    return std::max<std::int64_t>(0, (out - 1) * stride + dilation * (kernel - 1) + 1 - in);
  };
  const std::int64_t height = window.sequence ? 0
                                              : total(input.dim(2).value, window.kernel.height,
                                                      window.stride.height, window.dilation.height);
  const std::int64_t width = total(input.dim(input.rank() - 1).value, window.kernel.width,
                                   window.stride.width, window.dilation.width);
  return nn::Padding::by({height - height / 2, width - width / 2}, {height / 2, width / 2});
}

}  // namespace

Value WindowAttributes::value(nn::Extent extent) const {
  if (sequence) return extent.width;
  return nn::to_value(KeyFacts{}, extent);
}

Settings WindowAttributes::settings(std::string_view layer, std::string_view size) const {
  const Value around = sequence ? nn::write_sequence_padding(padding) : nn::to_value(KeyFacts{}, padding);
  return {
      {"layer", layer}, {std::string(size), value(kernel)}, {"stride", value(stride)}, {"padding", around}};
}

nn::Extent extent_of(const Call& call, const std::vector<std::int64_t>& values, bool sequence) {
  if (values.size() != (sequence ? 1 : 2)) {
    call.refuse(fmt::format("has windows with {} axes over {}", values.size(),
                            sequence ? "sequences (N, C, L)" : "images (N, C, H, W)"));
  }
  constexpr std::int64_t kMost = 1 << 24;
  for (const std::int64_t value : values) {
    if (value < 0 || value > kMost) call.refuse(fmt::format("has the number {} in its window", value));
  }
  return sequence ? nn::Extent(1, values[0]) : nn::Extent(values[0], values[1]);
}

WindowAttributes read_window(const Call& call, const std::vector<std::int64_t>& kernel, const View& input) {
  WindowAttributes window;
  window.sequence = input.rank() == 3;
  const std::size_t axes = window.sequence ? 1 : 2;
  const std::vector<std::int64_t> ones(axes, 1);
  window.kernel = extent_of(call, call.integers("kernel_shape", kernel), window.sequence);
  window.stride = extent_of(call, call.integers("strides", ones), window.sequence);
  window.dilation = extent_of(call, call.integers("dilations", ones), window.sequence);
  for (const nn::Extent& extent : {window.kernel, window.stride, window.dilation}) {
    if (extent.height < 1 || extent.width < 1) call.refuse("has a window, stride or dilation of 0");
  }
  const std::string automatic = call.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER") {
    window.padding = nn::Padding::same();
  } else if (automatic == "SAME_LOWER") {
    window.padding = same_lower(window, input);
  } else if (automatic != "VALID") {
    std::vector<std::int64_t> pads = call.integers("pads");
    if (pads.empty()) pads.assign(2 * axes, 0);
    if (pads.size() != 2 * axes) call.refuse(fmt::format("has {} pads", pads.size()));
    const auto half = pads.begin() + static_cast<std::ptrdiff_t>(axes);
    nn::Extent before = extent_of(call, {pads.begin(), half}, window.sequence);
    nn::Extent after = extent_of(call, {half, pads.end()}, window.sequence);
    if (window.sequence) before.height = after.height = 0;
    const nn::Extent none(0);
    if (before != none || after != none) window.padding = nn::Padding::by(before, after);
  }
  return window;
}

std::size_t channels_first(Call& call, const View& view) {
  if (view.rank() != 3 && view.rank() != 4) {
    call.refuse(fmt::format("its input {} is neither images (N, C, H, W) nor sequences (N, C, L)",
                            to_string(view.dims())),
                view.rank() == 5 ? "Convoke has no layers for volumes (N, C, D, H, W)" : "");
  }
  if (view.axes[0] != View::Axis{View::kBatch}) {
    call.refuse(fmt::format("its input {} does not begin with the batch alone", to_string(view.dims())));
  }
  return view.rank() == 4 ? arrange(call.builder(), view, {view.axes[1], view.axes[2], view.axes[3]})
                          : arrange(call.builder(), view, {view.axes[2], view.axes[1]});
}

View of_channels_first(const nn::Graph& graph, std::size_t node) {
  constexpr int kBatch = View::kBatch;
  return graph.node(node).shape.rank() == 3 ? View::of(graph, node, {kBatch, 0, 1, 2})
                                            : View::of(graph, node, {kBatch, 1, 0});
}

}  // namespace convoke::interop::onnx
