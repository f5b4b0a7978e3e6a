#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "interop/keras/composition.hpp"

namespace convoke::interop::keras_export {
namespace {

struct ComposeEntry {
  std::string_view name;
  ComposeLayer compose;
};

constexpr std::array kComposers{
    ComposeEntry{"adaptive_average_pool", compose_adaptive_average_pool},
    ComposeEntry{"adaptive_max_pool", compose_adaptive_max_pool},
    ComposeEntry{"add", compose_merge},
    ComposeEntry{"attention", compose_attention},
    ComposeEntry{"average", compose_merge},
    ComposeEntry{"average_pool", compose_average_pool},
    ComposeEntry{"average_pool1d", compose_average_pool},
    ComposeEntry{"batch_norm", compose_batch_norm},
    ComposeEntry{"channel_scale", compose_channel_scale},
    ComposeEntry{"channel_shuffle", compose_channel_shuffle},
    ComposeEntry{"concat", compose_concat},
    ComposeEntry{"conv1d", compose_conv1d},
    ComposeEntry{"conv2d", compose_conv2d},
    ComposeEntry{"conv2d_transpose", compose_conv2d_transpose},
    ComposeEntry{"crop", compose_crop},
    ComposeEntry{"dense", compose_dense},
    ComposeEntry{"depthwise_conv2d", compose_depthwise_conv2d},
    ComposeEntry{"dropout", compose_dropout},
    ComposeEntry{"elementwise", compose_elementwise},
    ComposeEntry{"elu", compose_elu},
    ComposeEntry{"embedding", compose_embedding},
    ComposeEntry{"flatten", compose_flatten},
    ComposeEntry{"gaussian_noise", compose_gaussian_noise},
    ComposeEntry{"gelu", compose_gelu},
    ComposeEntry{"global_average_pool", compose_global_pool},
    ComposeEntry{"global_average_pool1d", compose_global_pool},
    ComposeEntry{"global_max_pool", compose_global_pool},
    ComposeEntry{"global_max_pool1d", compose_global_pool},
    ComposeEntry{"group_norm", compose_group_norm},
    ComposeEntry{"gru", compose_recurrent},
    ComposeEntry{"hard_sigmoid", compose_hard_sigmoid},
    ComposeEntry{"hard_swish", compose_hard_swish},
    ComposeEntry{"identity", compose_identity},
    ComposeEntry{"layer_norm", compose_layer_norm},
    ComposeEntry{"leaky_relu", compose_leaky_relu},
    ComposeEntry{"local_response_norm", refuse_layer},
    ComposeEntry{"lstm", compose_recurrent},
    ComposeEntry{"max_pool", compose_max_pool},
    ComposeEntry{"max_pool1d", compose_max_pool},
    ComposeEntry{"maximum", compose_merge},
    ComposeEntry{"multiply", compose_merge},
    ComposeEntry{"permute", compose_permute},
    ComposeEntry{"prelu", compose_prelu},
    ComposeEntry{"relu", compose_activation},
    ComposeEntry{"relu6", compose_relu6},
    ComposeEntry{"rescale", compose_rescale},
    ComposeEntry{"reshape", compose_reshape},
    ComposeEntry{"resize", compose_resize},
    ComposeEntry{"selu", compose_activation},
    ComposeEntry{"separable_conv2d", compose_separable_conv2d},
    ComposeEntry{"sigmoid", compose_activation},
    ComposeEntry{"silu", compose_activation},
    ComposeEntry{"slice", compose_slice},
    ComposeEntry{"softmax", compose_activation},
    ComposeEntry{"softplus", compose_activation},
    ComposeEntry{"standardize", compose_standardize},
    ComposeEntry{"stochastic_depth", compose_stochastic_depth},
    ComposeEntry{"subtract", compose_merge},
    ComposeEntry{"tanh", compose_activation},
    ComposeEntry{"zero_pad", compose_zero_pad},
};

}  // namespace

ComposeLayer composer_of(const nn::Node& node) {
  const auto entry = std::find_if(kComposers.begin(), kComposers.end(),
                                  [&](const ComposeEntry& e) { return e.name == node.layer->type(); });
  if (entry != kComposers.end()) return entry->compose;
  throw Error(fmt::format("{}: Keras export does not know the layer \"{}\"", node.name, node.layer->type()));
}

bool composes(std::string_view type) {
  return std::any_of(kComposers.begin(), kComposers.end(), [&](const ComposeEntry& entry) {
    return entry.name == type && entry.compose != refuse_layer;
  });
}

std::vector<std::string> composed_layers() { return names_in(kComposers); }

}  // namespace convoke::interop::keras_export
