#pragma once
#include "convoke/optim/adam.hpp"

namespace convoke::optim {

/// Adam with Nesterov's momentum (Dozat, ICLR workshop 2016) and Keras' schedule of the momentum: mu_t =
/// beta_1 (1 - 0.96^t / 2). Options and defaults are Adam's, but epsilon is added after bias correction.
class Nadam final : public KeyedOptimizer<Nadam, AdamOptions> {
 public:
  using KeyedOptimizer::KeyedOptimizer;
  static Keys keys() { return Adam::keys(); }

  std::string_view name() const override { return "nadam"; }
  std::size_t state_slots() const override { return 2; }  // mean, mean square
  void step(const Slice& slice, double learning_rate) const override;
};

}  // namespace convoke::optim
