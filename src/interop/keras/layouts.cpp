#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "convoke/core/error.hpp"
#include "convoke/nn/layer.hpp"
#include "interop/keras/weights.hpp"

// How Keras stores the parameters of each of our layers.

namespace convoke::interop::keras {
namespace {

/// A parameter in Keras' order of weights. Axis i of ours is axis axes[i] of Keras'; the first two are joined
/// for a depthwise weight.
struct Stored {
  std::string_view layer, parameter;
  std::size_t rank;
  std::array<std::size_t, 4> axes;
  bool depthwise = false;
};
constexpr std::array kStored{
    Stored{"conv1d", "weight", 3, {2, 1, 0}},
    Stored{"conv1d", "bias", 1, {0}},
    Stored{"conv2d", "weight", 4, {3, 2, 0, 1}},
    Stored{"conv2d", "bias", 1, {0}},
    Stored{"conv2d_transpose", "weight", 4, {2, 3, 0, 1}},
    Stored{"conv2d_transpose", "bias", 1, {0}},
    Stored{"depthwise_conv2d", "weight", 4, {2, 3, 0, 1}, true},
    Stored{"depthwise_conv2d", "bias", 1, {0}},
    Stored{"separable_conv2d", "depthwise_weight", 4, {2, 3, 0, 1}, true},
    Stored{"separable_conv2d", "pointwise_weight", 4, {3, 2, 0, 1}},
    Stored{"separable_conv2d", "bias", 1, {0}},
    Stored{"dense", "weight", 2, {1, 0}},
    Stored{"dense", "bias", 1, {0}},
    Stored{"batch_norm", "gamma", 1, {0}},
    Stored{"batch_norm", "beta", 1, {0}},
    Stored{"batch_norm", "running_mean", 1, {0}},
    Stored{"batch_norm", "running_variance", 1, {0}},
    Stored{"layer_norm", "gamma", 1, {0}},
    Stored{"layer_norm", "beta", 1, {0}},
    Stored{"group_norm", "gamma", 1, {0}},
    Stored{"group_norm", "beta", 1, {0}},
    Stored{"channel_scale", "gamma", 1, {0}},
    Stored{"prelu", "alpha", 1, {0}},
    Stored{"embedding", "weight", 2, {0, 1}},
    Stored{"lstm", "weight", 2, {1, 0}},
    Stored{"lstm", "recurrent_weight", 2, {1, 0}},
    Stored{"lstm", "bias", 1, {0}},
    Stored{"lstm", "backward_weight", 2, {1, 0}},
    Stored{"lstm", "backward_recurrent_weight", 2, {1, 0}},
    Stored{"lstm", "backward_bias", 1, {0}},
    Stored{"gru", "weight", 2, {1, 0}},
    Stored{"gru", "recurrent_weight", 2, {1, 0}},
    Stored{"gru", "bias", 1, {0}},  // (2, 3 U): the recurrent bias is its second row
    Stored{"gru", "backward_weight", 2, {1, 0}},
    Stored{"gru", "backward_recurrent_weight", 2, {1, 0}},
    Stored{"gru", "backward_bias", 1, {0}},
};

// Axes of extent 1 in front do not count: a dense layer may be stored as a 1 x 1 convolution, and the
// reverse.
Shape with_rank(const Shape& shape, std::size_t rank) {
  std::vector<std::int64_t> extents = shape.extents();
  while (extents.size() > rank && extents.front() == 1) extents.erase(extents.begin());
  while (extents.size() < rank) extents.insert(extents.begin(), 1);
  return Shape(extents);
}

Shape canonical_shape(const Shape& stored, const Stored& how) {
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < how.rank; ++i) extents.push_back(stored[how.axes[i]]);
  if (how.depthwise) extents = {extents[0] * extents[1], 1, extents[2], extents[3]};
  return Shape(extents);
}

[[noreturn]] void misfit(const nn::Node& node, const std::string& parameter, const Tensor& tensor,
                         const Shape& needed) {
  throw Error(fmt::format("its {} needs a weight that becomes {}, but the file has {} {}", parameter,
                          needed.to_string(), tensor.name, tensor.shape.to_string()),
              fmt::format("the weights belong to another model than the description of {}", node.name));
}

void read_permuted(const Tensor& tensor, const Shape& view, std::span<const std::size_t> axes,
                   std::span<float> out) {
  if (std::is_sorted(axes.begin(), axes.end())) return read_floats(tensor, out);
  permute(read_floats(tensor), view, axes, out);
}

// A convolution of one channel a group may be stored as a depthwise one, (H, W, C, 1).
const Stored& as_stored(const Stored& how, const Tensor& tensor, const Shape& needed) {
  static constexpr Stored kDepthwise{"conv2d", "weight", 4, {2, 3, 0, 1}, true};
  const bool depthwise = how.layer == "conv2d" && tensor.shape.rank() == 4 && how.rank == 4 &&
                         canonical_shape(tensor.shape, how) != needed &&
                         canonical_shape(tensor.shape, kDepthwise) == needed;
  return depthwise ? kDepthwise : how;
}

// A vector of Keras is (H, W, C) of the image (C, H, W): its features are reordered as (H W, C) -> (C, H W).
Piece piece_of(const nn::Node& node, const nn::ParameterSpec& parameter, const Tensor& tensor,
               const Stored& how, const Shape& flattened) {
  const Shape stored = with_rank(tensor.shape, how.rank);
  if (stored.rank() != how.rank || canonical_shape(stored, how) != parameter.shape) {
    misfit(node, parameter.name, tensor, parameter.shape);
  }
  const bool per_feature = node.layer->type() != "dense" || parameter.name == "weight";
  std::vector<std::size_t> axes(how.axes.begin(), how.axes.begin() + static_cast<std::ptrdiff_t>(how.rank));
  Shape view = stored;
  if (flattened.rank() == 3 && per_feature) {
    const std::int64_t pixels = flattened[1] * flattened[2];
    view = how.rank == 2 ? Shape{pixels, flattened[0], stored[1]} : Shape{pixels, flattened[0]};
    axes = how.rank == 2 ? std::vector<std::size_t>{2, 1, 0} : std::vector<std::size_t>{1, 0};
  }
  return {parameter.name,
          [tensor, view, axes](std::span<float> out) { read_permuted(tensor, view, axes, out); }};
}

// The bias of a GRU: row 0 is for the input, row 1 for the state.
std::vector<Piece> gru_bias(const nn::Node& node, const nn::ParameterSpec& bias, const Tensor& tensor,
                            const std::string& prefix) {
  const std::int64_t size = bias.shape[0];
  if (tensor.shape != Shape{2, size}) misfit(node, bias.name, tensor, {2, size});
  std::vector<Piece> pieces;
  for (const std::int64_t row : {0, 1}) {
    pieces.push_back({prefix + (row == 0 ? "bias" : "recurrent_bias"), [tensor, row](std::span<float> out) {
                        const std::vector<float> both = read_floats(tensor);
                        const auto first = both.begin() + row * static_cast<std::ptrdiff_t>(out.size());
                        std::copy_n(first, out.size(), out.begin());
                      }});
  }
  return pieces;
}

}  // namespace

std::vector<Piece> match_tensors(const nn::Node& node, std::span<const Tensor> tensors,
                                 const Shape& flattened) {
  std::vector<Piece> pieces;
  std::size_t next = 0;
  for (const Stored& how : kStored) {
    if (how.layer != node.layer->type()) continue;
    const auto parameter =
        std::find_if(node.parameters.begin(), node.parameters.end(),
                     [&](const nn::ParameterSpec& spec) { return spec.name == how.parameter; });
    if (parameter == node.parameters.end()) continue;
    if (next == tensors.size()) {
      throw Error(fmt::format("the file has {} weights for it, and none for its {}", next, parameter->name),
                  "the weights belong to another model");
    }
    const Tensor& tensor = tensors[next++];
    const std::size_t prefix = how.parameter.starts_with("backward_") ? 9 : 0;
    if (how.layer == "gru" && how.parameter.substr(prefix) == "bias") {
      for (Piece& piece : gru_bias(node, *parameter, tensor, std::string(how.parameter.substr(0, prefix))))
        pieces.push_back(std::move(piece));
    } else {
      const Stored& form = as_stored(how, tensor, parameter->shape);
      pieces.push_back(piece_of(node, *parameter, tensor, form, flattened));
    }
  }
  if (next != tensors.size()) {
    throw Error(fmt::format("the file has {} weights for it, but it needs {}", tensors.size(), next),
                "the weights belong to another model");
  }
  return pieces;
}

}  // namespace convoke::interop::keras
