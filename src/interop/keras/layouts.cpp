#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "convoke/core/error.hpp"
#include "convoke/nn/layer.hpp"
#include "interop/keras/weights.hpp"

namespace convoke::interop::keras {
namespace {

constexpr std::string_view kBackward = "backward_";  // parameters of a second direction

constexpr std::array kLayouts{
    WeightLayout{"conv1d", "weight", "kernel", 3, {2, 1, 0}},
    WeightLayout{"conv2d", "weight", "kernel", 4, {3, 2, 0, 1}},
    WeightLayout{"conv2d_transpose", "weight", "kernel", 4, {2, 3, 0, 1}},
    WeightLayout{"dense", "weight", "kernel", 2, {1, 0}},
    WeightLayout{"depthwise_conv2d", "weight", "depthwise_kernel", 4, {2, 3, 0, 1}, true},
    WeightLayout{"embedding", "weight", "embeddings", 2, {0, 1}},
    WeightLayout{"gru", "weight", "kernel", 2, {1, 0}},
    WeightLayout{"gru", "recurrent_weight", "recurrent_kernel", 2, {1, 0}},
    WeightLayout{"lstm", "weight", "kernel", 2, {1, 0}},
    WeightLayout{"lstm", "recurrent_weight", "recurrent_kernel", 2, {1, 0}},
    WeightLayout{"separable_conv2d", "depthwise_weight", "depthwise_kernel", 4, {2, 3, 0, 1}, true},
    WeightLayout{"separable_conv2d", "pointwise_weight", "pointwise_kernel", 4, {3, 2, 0, 1}},
    // vectors of all layers
    WeightLayout{"", "alpha", "alpha", 1, {0}},
    WeightLayout{"", "beta", "beta", 1, {0}},
    WeightLayout{"", "bias", "bias", 1, {0}},
    WeightLayout{"", "gamma", "gamma", 1, {0}},
    WeightLayout{"", "running_mean", "moving_mean", 1, {0}},
    WeightLayout{"", "running_variance", "moving_variance", 1, {0}},
};

// Axes of extent 1 in front do not count: a dense layer may be stored as a 1 x 1 convolution, and the
// reverse.
Shape with_rank(const Shape& shape, std::size_t rank) {
  std::vector<std::int64_t> extents = shape.extents();
  while (extents.size() > rank && extents.front() == 1) extents.erase(extents.begin());
  while (extents.size() < rank) extents.insert(extents.begin(), 1);
  return Shape(extents);
}

Shape canonical_shape(const Shape& stored, const WeightLayout& how) {
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
const WeightLayout& as_stored(const WeightLayout& how, const Tensor& tensor, const Shape& needed) {
  const WeightLayout& depthwise = *find_layout("depthwise_conv2d", "weight");
  const bool other = how.layer == "conv2d" && tensor.shape.rank() == 4 &&
                     canonical_shape(tensor.shape, how) != needed &&
                     canonical_shape(tensor.shape, depthwise) == needed;
  return other ? depthwise : how;
}

// A vector of Keras is (H, W, C) of the image (C, H, W): its features are reordered as (H W, C) -> (C, H W).
Piece piece_of(const nn::Node& node, const nn::ParameterSpec& parameter, const Tensor& tensor,
               const WeightLayout& how, const Shape& flattened) {
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
std::vector<Piece> gru_bias(const nn::Node& node, const nn::ParameterSpec& bias, const Tensor& tensor) {
  const std::string prefix = bias.name.substr(0, bias.name.size() - std::string_view("bias").size());
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

const WeightLayout* find_layout(std::string_view layer, std::string_view parameter) {
  if (parameter.starts_with(kBackward)) parameter.remove_prefix(kBackward.size());
  const auto found = std::ranges::find_if(kLayouts, [&](const WeightLayout& layout) {
    return layout.parameter == parameter && (layout.layer == layer || layout.layer.empty());
  });
  return found == kLayouts.end() ? nullptr : &*found;
}

std::vector<Piece> match_tensors(const nn::Node& node, std::span<const Tensor> tensors,
                                 const Shape& flattened) {
  std::vector<Piece> pieces;
  std::size_t next = 0;
  for (const nn::ParameterSpec& parameter : node.parameters) {
    const WeightLayout* how = find_layout(node.layer->type(), parameter.name);
    if (how == nullptr) continue;
    if (next == tensors.size()) {
      throw Error(fmt::format("the file has {} weights for it, and none for its {}", next, parameter.name),
                  "the weights belong to another model");
    }
    const Tensor& tensor = tensors[next++];
    if (node.layer->type() == "gru" && how->parameter == "bias") {
      for (Piece& piece : gru_bias(node, parameter, tensor)) pieces.push_back(std::move(piece));
    } else {
      const WeightLayout& form = as_stored(*how, tensor, parameter.shape);
      pieces.push_back(piece_of(node, parameter, tensor, form, flattened));
    }
  }
  if (next != tensors.size()) {
    throw Error(fmt::format("the file has {} weights for it, but it needs {}", tensors.size(), next),
                "the weights belong to another model");
  }
  return pieces;
}

}  // namespace convoke::interop::keras
