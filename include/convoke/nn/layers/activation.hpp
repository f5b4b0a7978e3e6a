#pragma once
#include "convoke/nn/graph.hpp"
#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

struct ActivationOptions {
  double negative_slope = 0.3;  ///< leaky_relu: >= 0; the default of Keras' layer, PyTorch's is 0.01
  double alpha = 1;             ///< elu: >= 0
  bool approximate = false;     ///< gelu: use the tanh form
};

/// An element-wise function of one input of any shape: relu, relu6, leaky_relu, elu, selu, gelu, silu,
/// hard_swish, hard_sigmoid, softplus, sigmoid, tanh. A ReLU is usually fused into its neighbor, a relu6
/// into a batch norm (nn/plan/fusion).
class Activation final : public KeyedLayer<ActivationOptions> {
 public:
  enum class Function {
    kRelu,
    kRelu6,
    kLeakyRelu,  ///< A. Maas, A. Hannun, A. Ng, "Rectifier nonlinearities improve neural network acoustic
                 ///< models", ICML 2013
    kElu,        ///< D. Clevert, T. Unterthiner, S. Hochreiter, "Fast and accurate deep network learning by
                 ///< exponential linear units", ICLR 2016
    kSelu,       ///< G. Klambauer et al., "Self-normalizing neural networks", NeurIPS 2017
    kGelu,       ///< D. Hendrycks, K. Gimpel, "Gaussian error linear units", 2016
    kSilu,       ///< S. Elfwing, E. Uchibe, K. Doya, "Sigmoid-weighted linear units", 2018; swish with beta 1
    kHardSwish,  ///< A. Howard et al., "Searching for MobileNetV3", ICCV 2019
    kHardSigmoid,  ///< relu6(x + 3) / 6, as Keras 3 and PyTorch
    kSoftplus,     ///< log(1 + e^x)
    kSigmoid,
    kTanh
  };
  explicit Activation(Function function, ActivationOptions options = {})
      : KeyedLayer(keys(function), options), function_(function) {}
  std::string_view type() const override;
  LayerTraits traits() const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys(Function function);

 private:
  void compile_by_onednn(PlanBuilder& plan, const Node& node) const;
  void compile_by_kernel(PlanBuilder& plan, const Node& node) const;

  Function function_;
};

inline Symbol relu(Symbol x) { return apply(Activation(Activation::Function::kRelu), x); }
inline Symbol relu6(Symbol x) { return apply(Activation(Activation::Function::kRelu6), x); }
inline Symbol leaky_relu(Symbol x, ActivationOptions options = {}) {
  return apply(Activation(Activation::Function::kLeakyRelu, options), x);
}
inline Symbol elu(Symbol x, ActivationOptions options = {}) {
  return apply(Activation(Activation::Function::kElu, options), x);
}
inline Symbol selu(Symbol x) { return apply(Activation(Activation::Function::kSelu), x); }
inline Symbol gelu(Symbol x, ActivationOptions options = {}) {
  return apply(Activation(Activation::Function::kGelu, options), x);
}
inline Symbol silu(Symbol x) { return apply(Activation(Activation::Function::kSilu), x); }
inline Symbol hard_swish(Symbol x) { return apply(Activation(Activation::Function::kHardSwish), x); }
inline Symbol hard_sigmoid(Symbol x) { return apply(Activation(Activation::Function::kHardSigmoid), x); }
inline Symbol softplus(Symbol x) { return apply(Activation(Activation::Function::kSoftplus), x); }
inline Symbol sigmoid(Symbol x) { return apply(Activation(Activation::Function::kSigmoid), x); }
inline Symbol tanh(Symbol x) { return apply(Activation(Activation::Function::kTanh), x); }

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
