#pragma once
#include "convoke/nn/layer.hpp"

namespace convoke::nn {

struct Symbol;

/// Transposes the channels as a matrix (groups, C / groups): channel g * C / groups + i becomes i * groups +
/// g. Works on images, and on the features of vectors and sequences. X. Zhang et al., "ShuffleNet", CVPR
/// 2018.
class ChannelShuffle final : public Layer {
 public:
  explicit ChannelShuffle(std::int64_t groups) : groups_(groups) {}
  std::string_view type() const override { return "channel_shuffle"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  Settings settings() const override { return {{"layer", "channel_shuffle"}, {"groups", groups_}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read);

 private:
  std::int64_t groups_;
};

Symbol channel_shuffle(Symbol x, std::int64_t groups);

}  // namespace convoke::nn
