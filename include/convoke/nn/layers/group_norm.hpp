#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct GroupNormOptions {
  std::int64_t groups = 32;  ///< divides the channels; equal to the channels: instance normalization
  double epsilon = 1e-3;     ///< added to the variance, > 0; the default is Keras', PyTorch's is 1e-5
  bool scale = true;         ///< use gamma
  bool center = true;        ///< use beta
};

/// Group normalization: over the channels of a group and all pixels (or time steps of a sequence). Each
/// sample is normalized separately, so neither micro-batch nor batch matters. (N, C, H, W), (N, L, C) and (N,
/// C) keep their shape. Parameters: gamma (ones), beta (zeros), (C). Y. Wu, K. He, "Group normalization",
/// ECCV 2018; the defaults are Keras'.
class GroupNorm final : public KeyedLayer<GroupNormOptions> {
 public:
  explicit GroupNorm(GroupNormOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "group_norm"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol group_norm(Symbol x, GroupNormOptions options = {}) { return apply(GroupNorm(options), x); }

}  // namespace convoke::nn
