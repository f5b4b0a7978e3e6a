#pragma once
#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// exp(x_i) / sum_j exp(x_j) over the classes of a vector (N, K), the features of each time step of a
/// sequence (N, L, F), or the channels of each pixel of an image (N, C, H, W). The shape stays. A softmax
/// over a vector that is the last layer is part of the loss in training.
class Softmax final : public Layer {
 public:
  std::string_view type() const override { return "softmax"; }
  LayerTraits traits() const override { return {.is_activation = true, .joins_loss = true}; }
  void compile(PlanBuilder& plan, const Node& node) const override;
};

inline Symbol softmax(Symbol x) { return apply(Softmax(), x); }

}  // namespace convoke::nn
