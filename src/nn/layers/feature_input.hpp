#pragma once
#include <memory>
#include <utility>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// The beginning of a suffix_of() a network: its input, which is plain, in the layout and type in which the
/// whole network has the value of node `last`. The layers that follow then add up in the same order as there.
/// It occurs in a suffix only, so neither the table nor a file contains it.
class FeatureInput final : public Layer {
 public:
  FeatureInput(std::shared_ptr<const Graph> whole, std::size_t last)
      : whole_(std::move(whole)), last_(last) {}
  std::string_view type() const override { return "identity"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override { return inputs[0]; }
  LayerTraits traits() const override { return {.is_view = true, .is_frozen = true}; }
  Settings settings() const override { return {{"layer", "identity"}}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

 private:
  std::shared_ptr<const Graph> whole_;
  std::size_t last_;
};

}  // namespace convoke::nn
