#pragma once
#include <vector>

#include "convoke/nn/layer.hpp"
#include "convoke/nn/layers/axis.hpp"

namespace convoke::nn {

struct Symbol;

/// Joins two or more inputs along an axis: images along their channels, (N, C1, H, W) and (N, C2, H, W) ->
/// (N, C1 + C2, H, W), or along height or width; sequences along "features" or "time"; vectors.
class Concat final : public Layer {
 public:
  explicit Concat(Axis axis = {}) : axis_(std::move(axis)) {}
  std::string_view type() const override { return "concat"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.inputs = LayerTraits::Inputs::kSeveral}; }
  Settings settings() const override { return {{"layer", "concat"}, {"axis", axis_.name()}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static LayerPtr make(LayerReader& read) { return std::make_shared<Concat>(Axis::read(read)); }

 private:
  Axis axis_;
};

Symbol concat(const std::vector<Symbol>& inputs, Axis axis = {});

}  // namespace convoke::nn
