#pragma once
#include "convoke/optim/adam.hpp"

namespace convoke::optim {

/// The defaults are Keras' (PyTorch's weight decay is 0.01, and its epsilon is added after bias correction).
struct AdamWOptions {
  AdamOptions adam = {};
  double weight_decay = 0.004;   ///< >= 0; a step subtracts learning rate * weight_decay of each weight
  bool exclude_vectors = false;  ///< no decay of biases, gamma and beta
};

/// Adam with decoupled weight decay (Loshchilov and Hutter, ICLR 2019), equal to Keras'.
class AdamW final : public KeyedOptimizer<AdamW, AdamWOptions> {
 public:
  using KeyedOptimizer::KeyedOptimizer;
  static Keys keys();

  std::string_view name() const override { return "adamw"; }
  std::size_t state_slots() const override { return 2; }  // mean, mean square
  Scope scope() const override { return options_.exclude_vectors ? Scope::kParameter : Scope::kElements; }
  void step(const Slice& slice, double learning_rate) const override;
};

}  // namespace convoke::optim
