#include "reference/layer.hpp"

#include <algorithm>
#include <array>

#include "convoke/core/settings.hpp"
#include "reference/convolution.hpp"
#include "reference/normalization.hpp"
#include "reference/pointwise.hpp"
#include "reference/pooling.hpp"
#include "reference/sequence.hpp"
#include "reference/structure.hpp"

namespace reference {
namespace {

/// One line per layer. The functions are in the files of this folder, by kind.
constexpr std::array kLayers{
    LayerEntry{"adaptive_average_pool", adaptive_pool},
    LayerEntry{"adaptive_max_pool", adaptive_pool},
    LayerEntry{"attention", attention},
    LayerEntry{"average", average},
    LayerEntry{"average_pool1d", pool1d},
    LayerEntry{"channel_scale", channel_scale},
    LayerEntry{"channel_shuffle", channel_shuffle},
    LayerEntry{"concat", concat},
    LayerEntry{"conv1d", conv1d},
    LayerEntry{"conv2d_transpose", conv2d_transpose},
    LayerEntry{"crop", crop},
    LayerEntry{"depthwise_conv2d", depthwise_conv2d},
    LayerEntry{"elementwise", elementwise},
    LayerEntry{"elu", elu},
    LayerEntry{"embedding", embedding},
    LayerEntry{"gaussian_noise", gaussian_noise},
    LayerEntry{"gelu", gelu},
    LayerEntry{"global_average_pool1d", global_pool},
    LayerEntry{"global_max_pool", global_pool},
    LayerEntry{"global_max_pool1d", global_pool},
    LayerEntry{"group_norm", group_norm},
    LayerEntry{"gru", gru},
    LayerEntry{"hard_sigmoid", hard_sigmoid},
    LayerEntry{"hard_swish", hard_swish},
    LayerEntry{"identity", identity},
    LayerEntry{"layer_norm", layer_norm},
    LayerEntry{"leaky_relu", leaky_relu},
    LayerEntry{"local_response_norm", local_response_norm},
    LayerEntry{"lstm", lstm},
    LayerEntry{"max_pool1d", pool1d},
    LayerEntry{"maximum", maximum},
    LayerEntry{"multiply", multiply},
    LayerEntry{"permute", permute},
    LayerEntry{"prelu", prelu},
    LayerEntry{"relu6", relu6},
    LayerEntry{"rescale", rescale},
    LayerEntry{"reshape", identity},
    LayerEntry{"resize", resize},
    LayerEntry{"selu", selu},
    LayerEntry{"separable_conv2d", separable_conv2d},
    LayerEntry{"silu", silu},
    LayerEntry{"slice", slice},
    LayerEntry{"softmax", softmax},
    LayerEntry{"softplus", softplus},
    LayerEntry{"standardize", standardize},
    LayerEntry{"stochastic_depth", stochastic_depth},
    LayerEntry{"subtract", subtract},
    LayerEntry{"zero_pad", zero_pad},
};

}  // namespace

double Call::number(std::string_view setting, double fallback) const {
  return convoke::SettingsReader(settings, "reference").get(setting, fallback);
}

std::string Call::text(std::string_view setting) const {
  return convoke::SettingsReader(settings, "reference").get(setting, std::string());
}

std::pair<std::int64_t, std::int64_t> Call::pair(std::string_view setting) const {
  const auto list = convoke::SettingsReader(settings, "reference").get(setting, std::vector<std::int64_t>{1});
  return {list.front(), list.back()};
}

const LayerEntry* find_layer(std::string_view type) {
  const auto it = std::find_if(kLayers.begin(), kLayers.end(),
                               [&](const LayerEntry& entry) { return entry.type == type; });
  return it == kLayers.end() ? nullptr : &*it;
}

}  // namespace reference
