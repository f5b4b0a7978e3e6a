#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct AttentionOptions {
  std::int64_t heads = 1;  ///< divides the features of query, key and value, >= 1
  double scale = 0;        ///< factor of the scores, > 0; 0: 1 / sqrt(features of the query / heads)
};

/// Scaled dot-product attention with several heads. Inputs: query (N, L, F), key (N, S, F), value (N, S, G).
/// Output: (N, L, G). Each head h reads its own F / heads and G / heads neighboring features:
///   y_h = softmax(scale q_h k_h^T) v_h
/// The layer has no parameters: put conv1d layers with kernel 1 before it and after it for the projections.
/// It has no mask. A. Vaswani et al., "Attention is all you need", 2017, section 3.2.
class Attention final : public KeyedLayer<AttentionOptions> {
 public:
  explicit Attention(AttentionOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "attention"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.inputs = LayerTraits::Inputs::kSeveral}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol attention(Symbol query, Symbol key, Symbol value, AttentionOptions options = {}) {
  return merge(Attention(options), {query, key, value});
}

}  // namespace convoke::nn
