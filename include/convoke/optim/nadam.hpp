#pragma once
#include "convoke/optim/adam.hpp"

namespace convoke::optim {

/// Adam with Nesterov's momentum (Dozat, ICLR workshop 2016) and Keras' schedule of the momentum: mu_t =
/// beta_1 (1 - 0.96^t / 2). Options and defaults are Adam's, but epsilon is added after bias correction.
class Nadam final : public Optimizer {
 public:
  explicit Nadam(AdamOptions options = {}) : options_(options) {}
  /// Throws Error for a value out of range.
  static AdamOptions read(SettingsReader& settings) { return Adam::read(settings); }
  static std::vector<KeyDescription> keys() { return Adam::keys(); }

  std::string_view name() const override { return "nadam"; }
  std::size_t state_slots() const override { return 2; }  // mean, mean square
  void step(const Slice& slice, double learning_rate) const override;
  Settings settings() const override;

 private:
  AdamOptions options_;
};

}  // namespace convoke::optim
