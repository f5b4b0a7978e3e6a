#pragma once
#include "convoke/optim/optimizer.hpp"

namespace convoke::optim {

/// The defaults are Keras'.
struct SgdOptions {
  double momentum = 0.0;  ///< [0, 1)
  bool nesterov = false;  ///< needs momentum > 0
};

/// Stochastic gradient descent, with momentum or Nesterov's momentum (Sutskever et al., ICML 2013).
class Sgd final : public KeyedOptimizer<Sgd, SgdOptions> {
 public:
  using KeyedOptimizer::KeyedOptimizer;
  static Keys keys();
  static void check(const SettingsReader& read, const SgdOptions& options);

  std::string_view name() const override { return "sgd"; }
  std::size_t state_slots() const override { return options_.momentum > 0 ? 1 : 0; }  // velocity
  void step(const Slice& slice, double learning_rate) const override;
};

}  // namespace convoke::optim
