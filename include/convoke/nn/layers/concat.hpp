#pragma once
#include <vector>

#include "convoke/nn/layers/axis.hpp"

namespace convoke::nn {

struct ConcatOptions {
  Axis axis{};
};

/// Joins two or more inputs along an axis: images along their channels, (N, C1, H, W) and (N, C2, H, W) ->
/// (N, C1 + C2, H, W), or along height or width; sequences along "features" or "time"; vectors.
class Concat final : public KeyedLayer<ConcatOptions> {
 public:
  explicit Concat(ConcatOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "concat"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.inputs = LayerTraits::Inputs::kSeveral}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol concat(const std::vector<Symbol>& inputs, Axis axis = {}) {
  return merge(Concat(ConcatOptions{std::move(axis)}), inputs);
}

}  // namespace convoke::nn
