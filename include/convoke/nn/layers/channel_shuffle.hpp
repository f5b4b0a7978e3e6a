#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct ChannelShuffleOptions {
  std::int64_t groups = 1;  ///< divides the channels
};

/// Transposes the channels as a matrix (groups, C / groups): channel g * C / groups + i becomes i * groups +
/// g. Works on images, and on the features of vectors and sequences. X. Zhang et al., "ShuffleNet", CVPR
/// 2018.
class ChannelShuffle final : public KeyedLayer<ChannelShuffleOptions> {
 public:
  explicit ChannelShuffle(ChannelShuffleOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "channel_shuffle"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol channel_shuffle(Symbol x, std::int64_t groups) {
  return apply(ChannelShuffle(ChannelShuffleOptions{groups}), x);
}

}  // namespace convoke::nn
