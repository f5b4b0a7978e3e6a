#pragma once
#include "convoke/nn/window.hpp"
#include "interop/onnx/call.hpp"

namespace convoke::interop::onnx {

/// The window of a convolution or a pooling, over images or, with `sequence`, along sequences as images of
/// one row.
struct WindowAttributes {
  bool sequence = false;
  nn::Extent kernel{1}, stride{1}, dilation{1};
  nn::Padding padding;

  /// Returns a number along sequences, [height, width] of images.
  Value value(nn::Extent extent) const;
  /// Returns the settings of a layer over the window, whose size it calls `size`.
  Settings settings(std::string_view layer, std::string_view size) const;
};

/// Reads the attributes of a window. `kernel`: without the attribute kernel_shape; `input`: the value (N, C,
/// L) or (N, C, H, W).
WindowAttributes read_window(const Call& call, const std::vector<std::int64_t>& kernel, const View& input);

/// Returns a pair of numbers, of which a sequence has only the second.
nn::Extent extent_of(const Call& call, const std::vector<std::int64_t>& values, bool sequence);

/// Returns the node with the value (N, C, H, W) as images (C, H, W), or (N, C, L) as sequences (L, C).
std::size_t channels_first(Call& call, const View& view);
/// Returns the ONNX value of such a node.
View of_channels_first(const nn::Graph& graph, std::size_t node);

}  // namespace convoke::interop::onnx
