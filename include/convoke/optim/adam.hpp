#pragma once
#include "convoke/optim/optimizer.hpp"

namespace convoke::optim {

/// The defaults are Keras' (epsilon 1e-7 instead of the paper's 1e-8).
struct AdamOptions {
  double beta_1 = 0.9;    ///< decay of the running mean of gradients, [0, 1)
  double beta_2 = 0.999;  ///< decay of the running mean of squared gradients, [0, 1)
  double epsilon = 1e-7;  ///< the paper's "epsilon hat", added to the root before bias correction, > 0
};

/// Adam (Kingma and Ba, ICLR 2015), in the form at the end of their section 2, equal to Keras'.
class Adam final : public Optimizer {
 public:
  explicit Adam(AdamOptions options = {}) : options_(options) {}
  /// Throws Error for a value out of range.
  static AdamOptions read(SettingsReader& settings);
  static std::vector<KeyDescription> keys();

  std::string_view name() const override { return "adam"; }
  std::size_t state_slots() const override { return 2; }  // mean, mean square
  void step(const Slice& slice, double learning_rate) const override;
  Settings settings() const override;

 private:
  AdamOptions options_;
};

}  // namespace convoke::optim
