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

struct RecurrentOptions {
  std::int64_t units = 0;      ///< size of the state, >= 1
  bool sequences = false;      ///< return all states (L, units) instead of the last one (units)
  bool bidirectional = false;  ///< a second layer runs from the end; the outputs are concatenated
  bool bias = true;
  double dropout = 0;            ///< dropout of the input, [0, 1)
  double recurrent_dropout = 0;  ///< dropout of the state that the gates see, [0, 1)
};

/// LSTM and GRU: sequences (N, L, F) -> (N, L, U) or, without `sequences`, (N, U), the state after the last
/// time step. U = units, or 2 units if bidirectional.
///
/// Long short-term memory: S. Hochreiter, J. Schmidhuber, Neural Computation 9, 1997; forget gates: F. Gers,
/// J. Schmidhuber, F. Cummins, Neural Computation 12, 2000. No peepholes.
///   i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of (W x + R h + b)
///   c' = f c + i g,  h' = o tanh(c')
/// Gates are in Keras' and PyTorch's order i, f, g, o. The bias of f starts as 1 (Keras' unit_forget_bias).
///
/// Gated recurrent unit: K. Cho et al., EMNLP 2014, with the reset gate after the product (Keras' reset_after
/// = true, PyTorch, oneDNN's lbr_gru).
///   z, r = sigmoid(W x + b + R h + b_R),  g = tanh(W x + b + r (R h + b_R)),  h' = z h + (1 - z) g
/// Gates are in Keras' order z, r, g (PyTorch: r, z, n). With bias there is also recurrent_bias (3 U), b_R.
///
/// Padding: an optional second input holds the tokens (N, L) from which the sequences were made. It masks
/// every time step where the token is 0: state and output pass over that step unchanged. In a
/// bidirectional layer with `sequences`, the output there is 0. (Keras' mask_zero.)
///
/// Dropout scales the elements that it keeps by 1 / (1 - rate). One mask per sample serves all time steps: Y.
/// Gal, Z. Ghahramani, "A theoretically grounded application of dropout in recurrent neural networks", NIPS
/// 2016, with tied weights: all gates see the same mask. (Keras draws one mask per gate if recurrent_dropout
/// is above 0.) Masks follow from (seed, epoch, sample, repeat, node) alone.
///
/// Parameters, with G gates: weight (G U, F), Glorot uniform; recurrent_weight (G U, U), orthogonal; bias
/// (G U). A bidirectional layer has all of them a second time with the prefix "backward_".
class Recurrent final : public KeyedLayer<RecurrentOptions> {
 public:
  enum class Unit { kLstm, kGru };
  explicit Recurrent(Unit unit, RecurrentOptions options = {})
      : KeyedLayer(keys(unit), options), unit_(unit) {}
  std::string_view type() const override { return unit_ == Unit::kLstm ? "lstm" : "gru"; }
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  std::vector<ParameterSpec> parameters(std::span<const ValueSpec> inputs) const override;
  LayerTraits traits() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys(Unit unit);

 private:
  std::int64_t gates() const { return unit_ == Unit::kLstm ? 4 : 3; }

  Unit unit_;
};

inline Symbol lstm(Symbol x, RecurrentOptions options) {
  return apply(Recurrent(Recurrent::Unit::kLstm, options), x);
}
inline Symbol gru(Symbol x, RecurrentOptions options) {
  return apply(Recurrent(Recurrent::Unit::kGru, options), x);
}
/// An LSTM that is masked where `tokens` are 0.
inline Symbol lstm(Symbol x, Symbol tokens, RecurrentOptions options) {
  return merge(Recurrent(Recurrent::Unit::kLstm, options), {x, tokens});
}
inline Symbol gru(Symbol x, Symbol tokens, RecurrentOptions options) {
  return merge(Recurrent(Recurrent::Unit::kGru, options), {x, tokens});
}

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
