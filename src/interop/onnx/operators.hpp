#pragma once
#include "convoke/nn/window.hpp"
#include "interop/onnx/call.hpp"

// How operators become layers: one function for each, or for each family. operators.cpp has their table.

namespace convoke::interop::onnx {

// convolution.cpp
void convert_convolution(Call& call);
void convert_transposed_convolution(Call& call);
// dense.cpp
void convert_gemm(Call& call);
void convert_matmul(Call& call);
void convert_gather(Call& call);
void convert_gather_nd(Call& call);
// attention.cpp
void convert_attention(Call& call);
void convert_spelled_attention(Call& call);
// pooling.cpp
void convert_max_pool(Call& call);
void convert_average_pool(Call& call);
void convert_global_average(Call& call);
void convert_global_max(Call& call);
void convert_reduce_mean(Call& call);
void convert_reduce_max(Call& call);
void convert_reduce_sum(Call& call);
// normalization.cpp
void convert_batch_norm(Call& call);
void convert_layer_norm(Call& call);
void convert_normalize(Call& call);
void convert_instance_norm(Call& call);
void convert_group_norm(Call& call);
void convert_local_response_norm(Call& call);
// activation.cpp
void convert_plain(Call& call);
void convert_gelu(Call& call);
void convert_leaky_relu(Call& call);
void convert_selu(Call& call);
void convert_swish(Call& call);
void convert_recognized_activation(Call& call);
void convert_hard_sigmoid(Call& call);
void convert_celu(Call& call);
void convert_mish(Call& call);
void convert_prelu(Call& call);
void convert_clip(Call& call);
void convert_softmax(Call& call);
void convert_log_softmax(Call& call);
void convert_dropout(Call& call);
// arithmetic.cpp
void convert_function(Call& call);
void convert_add(Call& call);
void convert_subtract(Call& call);
void convert_multiply(Call& call);
void convert_divide(Call& call);
void convert_negate(Call& call);
void convert_power(Call& call);
void convert_maximum(Call& call);
void convert_sum(Call& call);
void convert_mean(Call& call);
// quantized.cpp
void convert_quantize(Call& call);
void convert_dequantize(Call& call);
// structure.cpp
void convert_identity(Call& call);
void convert_cast(Call& call);
void convert_transpose(Call& call);
void convert_reshape(Call& call);
void convert_flatten(Call& call);
void convert_squeeze(Call& call);
void convert_unsqueeze(Call& call);
void convert_depth_to_space(Call& call);
void convert_space_to_depth(Call& call);
void convert_shape(Call& call);
void convert_size(Call& call);
// concat.cpp
void convert_concat(Call& call);
// parts.cpp
void convert_split(Call& call);
void convert_slice(Call& call);
void convert_pad(Call& call);
void convert_expand(Call& call);
void convert_tile(Call& call);
// resize.cpp
void convert_resize(Call& call);
void convert_upsample(Call& call);
// recurrent.cpp
void convert_lstm(Call& call);
void convert_gru(Call& call);

/// True if a value of the file holds booleans: a comparison, or what only moves its numbers.
bool is_boolean(const Source& source, const std::string& value);
/// Returns 1 where `x` is not 0, and 0 elsewhere.
View boolean_of(Call& call, const View& x);
/// Multiplies each element along the ONNX axes of `constant` (broadcast to `view`), or adds it: a trained
/// layer with one parameter for each element, or, before the first layer with weights, a fixed one.
View scaled_by(Call& call, const View& view, const Constant& constant);
View shifted_by(Call& call, const View& view, const Constant& constant);
/// Returns scale x + offset.
View rescaled(Call& call, const View& view, double scale, double offset);
/// Returns the indices first .. first + size - 1 along an axis.
View sliced(Call& call, const View& view, std::size_t axis, std::int64_t first, std::int64_t size);
/// Returns the value at these indices of an axis, counted from the end if below 0; neighbors are one slice.
Known picked(Call& call, const Known& value, std::size_t axis, std::vector<std::int64_t> indices);
/// Adds zeroes before and after some axes; both axes of an image at once.
View zero_padded(Call& call, View x, std::vector<std::int64_t> before, std::vector<std::int64_t> after);
/// Returns `parts` joined along an axis.
View joined(Call& call, const std::vector<View>& parts, std::size_t axis);
/// Returns a view with these dimensions, one of which may be -1. 0 is refused.
View reshaped(Call& call, const View& view, std::vector<Dim> to);
/// Gives a value with these dimensions as the node's output.
void give_reshaped(Call& call, const Known& value, std::vector<Dim> to);

// broadcast.cpp: brings the operands of element-wise operators to one shape, as NumPy.

/// Returns the dimensions to which both are broadcast. Refuses the node if they do not fit.
std::vector<Dim> broadcast(const Call& call, const std::vector<Dim>& a, const std::vector<Dim>& b);
/// Returns the view with axes of extent 1 in front, up to `rank`.
View with_rank(const View& view, std::size_t rank);
/// Returns the view with all axes of extent 1 of `to` repeated.
View repeated(Call& call, const View& view, const std::vector<Dim>& to);
/// Brings views to one shape.
std::vector<View> broadcast_all(Call& call, std::vector<View> views);

/// The elements of a constant that is broadcast to a view, along the axes in which they differ.
struct Spread {
  View view;  ///< has a channel for each element
  Constant constant;
};

Spread spread(Call& call, const View& view, const Constant& constant);

/// Values of one shape over nodes of one shape.
struct Aligned {
  std::vector<std::size_t> nodes;
  View view;  ///< of a node with the same axes
};
Aligned aligned(Call& call, const std::vector<View>& views);

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
