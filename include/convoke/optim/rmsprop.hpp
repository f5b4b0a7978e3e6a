#pragma once
#include "convoke/optim/optimizer.hpp"

namespace convoke::optim {

/// The defaults are Keras'.
struct RmsPropOptions {
  double rho = 0.9;       ///< decay of the running mean of squared gradients, [0, 1)
  double momentum = 0.0;  ///< [0, 1)
  double epsilon = 1e-7;  ///< added inside the root, > 0
};

/// RMSProp (Hinton, lecture 6e of "Neural networks for machine learning", 2012), not centered.
class RmsProp final : public KeyedOptimizer<RmsProp, RmsPropOptions> {
 public:
  using KeyedOptimizer::KeyedOptimizer;
  static Keys keys();

  std::string_view name() const override { return "rmsprop"; }
  std::size_t state_slots() const override { return options_.momentum > 0 ? 2 : 1; }  // mean square, velocity
  void step(const Slice& slice, double learning_rate) const override;
};

/// The defaults are Keras'.
struct AdagradOptions {
  double initial_accumulator_value = 0.1;  ///< start value of the sum of squared gradients, >= 0
  double epsilon = 1e-7;                   ///< added inside the root, > 0
};

/// Adagrad (Duchi, Hazan and Singer, JMLR 2011), equal to Keras'.
class Adagrad final : public KeyedOptimizer<Adagrad, AdagradOptions> {
 public:
  using KeyedOptimizer::KeyedOptimizer;
  static Keys keys();

  std::string_view name() const override { return "adagrad"; }
  std::size_t state_slots() const override { return 1; }  // sum of squares, without its start value
  void step(const Slice& slice, double learning_rate) const override;
};

}  // namespace convoke::optim
