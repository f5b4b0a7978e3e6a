#pragma once
#include "convoke/optim/adam.hpp"
#include "convoke/optim/optimizer.hpp"

namespace convoke::optim {

/// The defaults are those of large-batch training of ResNet-50 in the paper and in MLPerf.
struct LarsOptions {
  double momentum = 0.9;             ///< [0, 1)
  double weight_decay = 1e-4;        ///< >= 0
  double trust_coefficient = 0.001;  ///< the paper's eta, > 0
  double epsilon = 1e-8;             ///< added to the denominator of the trust ratio, >= 0
  bool exclude_vectors = true;       ///< biases, gamma and beta: no decay, and the plain learning rate
};

/// Layer-wise adaptive rate scaling (You, Gitman and Ginsburg, "Large batch training of convolutional
/// networks", 2017): SGD with momentum whose rate for each parameter is in proportion to
/// ||w|| / (||g|| + decay ||w||).
class Lars final : public KeyedOptimizer<Lars, LarsOptions> {
 public:
  using KeyedOptimizer::KeyedOptimizer;
  static Keys keys();

  std::string_view name() const override { return "lars"; }
  std::size_t state_slots() const override { return 1; }  // velocity
  Scope scope() const override { return Scope::kWholeParameter; }
  void step(const Slice& slice, double learning_rate) const override;
};

/// Adam's options with Keras' defaults; weight decay with the paper's default.
struct LambOptions {
  AdamOptions adam = {};        ///< epsilon is added after bias correction
  double weight_decay = 0.01;   ///< >= 0; part of the direction (in Keras a separate decay)
  bool exclude_vectors = true;  ///< biases, gamma and beta: no decay, and the plain step of Adam
};

/// LAMB (You et al., "Large batch optimization for deep learning: training BERT in 76 minutes", ICLR 2020):
/// Adam with the step of each parameter scaled to the norm of its weights. The paper's function phi is the
/// identity.
class Lamb final : public KeyedOptimizer<Lamb, LambOptions> {
 public:
  using KeyedOptimizer::KeyedOptimizer;
  static Keys keys();

  std::string_view name() const override { return "lamb"; }
  std::size_t state_slots() const override { return 2; }  // mean, mean square
  Scope scope() const override { return Scope::kWholeParameter; }
  void step(const Slice& slice, double learning_rate) const override;
};

}  // namespace convoke::optim
