#pragma once
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct EmbeddingOptions {
  std::int64_t vocabulary = 1;  ///< tokens are 0..vocabulary - 1, >= 1
  std::int64_t units = 0;       ///< numbers per token, >= 1
};

/// Looks up a vector for each token: tokens (N, L) -> sequences (N, L, units), y[n, l] = weight[x[n, l]].
/// Parameters: weight (vocabulary, units), uniform in +-0.05 as in Keras. Its gradient is dense: the sum over
/// all positions of a token, in their order, so that equal runs give equal results. A step with a token
/// outside the vocabulary throws Error with the sample and the token.
class Embedding final : public KeyedLayer<EmbeddingOptions> {
 public:
  explicit Embedding(EmbeddingOptions options = {}) : KeyedLayer(keys(), std::move(options)) {}
  std::string_view type() const override { return "embedding"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override { return {.takes_tokens = true, .vocabulary = options_.vocabulary}; }
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys();
};

inline Symbol embedding(Symbol x, EmbeddingOptions options) { return apply(Embedding(options), x); }

}  // namespace convoke::nn
