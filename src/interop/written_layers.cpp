#include "interop/written_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "interop/keras/composition.hpp"
#include "interop/onnx/emission.hpp"
#include "interop/plain_layers.hpp"

namespace convoke::interop {
namespace {

using namespace keras_export;
using namespace onnx_export;

constexpr std::array kLayers{
    WrittenLayer{"adaptive_average_pool", emit_adaptive_pool, compose_adaptive_average_pool},
    WrittenLayer{"adaptive_max_pool", emit_adaptive_pool, compose_adaptive_max_pool},
    WrittenLayer{"attention", emit_attention, compose_attention},
    WrittenLayer{"average_pool", emit_average_pool, compose_average_pool},
    WrittenLayer{"average_pool1d", emit_average_pool, compose_average_pool},
    WrittenLayer{"batch_norm", emit_batch_norm, compose_batch_norm},
    WrittenLayer{"channel_scale", emit_channel_scale, compose_channel_scale},
    WrittenLayer{"channel_shuffle", emit_channel_shuffle, compose_channel_shuffle},
    WrittenLayer{"concat", emit_concat, compose_concat},
    WrittenLayer{"conv1d", emit_convolution, compose_conv1d},
    WrittenLayer{"conv2d", emit_convolution, compose_conv2d},
    WrittenLayer{"conv2d_transpose", emit_transposed_convolution, compose_conv2d_transpose},
    WrittenLayer{"crop", emit_crop, compose_crop},
    WrittenLayer{"dense", emit_dense, compose_dense},
    WrittenLayer{"depthwise_conv2d", emit_depthwise_convolution, compose_depthwise_conv2d},
    WrittenLayer{"dropout", nullptr, compose_dropout},
    WrittenLayer{"elementwise", emit_elementwise, compose_elementwise},
    WrittenLayer{"embedding", emit_embedding, compose_embedding},
    WrittenLayer{"flatten", emit_flatten, compose_flatten},
    WrittenLayer{"gelu", emit_gelu, compose_gelu},
    WrittenLayer{"global_average_pool", emit_global_pool, compose_global_pool},
    WrittenLayer{"global_average_pool1d", emit_global_pool, compose_global_pool},
    WrittenLayer{"global_max_pool", emit_global_pool, compose_global_pool},
    WrittenLayer{"global_max_pool1d", emit_global_pool, compose_global_pool},
    WrittenLayer{"group_norm", emit_group_norm, compose_group_norm},
    WrittenLayer{"gru", emit_recurrent, compose_recurrent},
    WrittenLayer{"hard_sigmoid", emit_hard_sigmoid, compose_hard_sigmoid},
    WrittenLayer{"hard_swish", emit_plain, compose_hard_swish},
    WrittenLayer{"identity", nullptr, compose_identity},
    WrittenLayer{"layer_norm", emit_layer_norm, compose_layer_norm},
    WrittenLayer{"local_response_norm", emit_local_response_norm, refuse_layer},
    WrittenLayer{"lstm", emit_recurrent, compose_recurrent},
    WrittenLayer{"max_pool", emit_max_pool, compose_max_pool},
    WrittenLayer{"max_pool1d", emit_max_pool, compose_max_pool},
    WrittenLayer{"multiply", emit_multiply, compose_multiply},
    WrittenLayer{"permute", emit_permute, compose_permute},
    WrittenLayer{"prelu", emit_prelu, compose_prelu},
    WrittenLayer{"relu6", emit_relu6, compose_relu6},
    WrittenLayer{"rescale", emit_rescale, compose_rescale},
    WrittenLayer{"reshape", emit_reshape, compose_reshape},
    WrittenLayer{"resize", emit_resize, compose_resize},
    WrittenLayer{"separable_conv2d", emit_separable_convolution, compose_separable_conv2d},
    WrittenLayer{"silu", emit_silu, compose_plain},
    WrittenLayer{"slice", emit_slice, compose_slice},
    WrittenLayer{"softmax", emit_softmax, compose_softmax},
    WrittenLayer{"standardize", emit_standardize, compose_standardize},
    WrittenLayer{"stochastic_depth", nullptr, compose_stochastic_depth},
    WrittenLayer{"zero_pad", emit_zero_pad, compose_zero_pad},
};

/// Returns the entry of a type; without functions if there is none.
WrittenLayer find_layer(std::string_view type) {
  const auto entry = std::ranges::find(kLayers, type, &WrittenLayer::name);
  if (entry != kLayers.end()) return *entry;
  const PlainLayer* plain = find_plain_layer(&PlainLayer::name, type);
  if (plain == nullptr) return {type};
  return {type, plain->training ? nullptr : emit_plain, compose_plain};
}

}  // namespace

WrittenLayer written_layer(const nn::Node& node) {
  const WrittenLayer layer = find_layer(node.layer->type());
  if (layer.compose != nullptr) return layer;
  throw Error(fmt::format("{}: export does not know the layer \"{}\"", node.name, layer.name));
}

bool keras_has(std::string_view type) { return find_layer(type).compose != refuse_layer; }

std::vector<std::string> written_layers() {
  std::vector<std::string> names = names_in(kLayers);
  for (const PlainLayer& layer : plain_layers()) {
    if (std::ranges::find(names, layer.name) == names.end()) names.emplace_back(layer.name);
  }
  return names;
}

}  // namespace convoke::interop
