#pragma once
#include "convoke/optim/schedule.hpp"

namespace convoke::optim {

struct ExponentialOptions {
  double rate = 1;  ///< what `epochs` epochs multiply the learning rate by, (0, 1]; has no default in recipes
  double epochs = 1;  ///< > 0
};

/// Smooth exponential decay: Keras' ExponentialDecay with staircase=False.
class ExponentialSchedule final : public Schedule {
 public:
  explicit ExponentialSchedule(ExponentialOptions options) : options_(options) {}
  /// Throws Error for a value out of range or missing.
  static std::unique_ptr<Schedule> read(SettingsReader& settings);
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const override;
  Settings settings() const override;

 private:
  ExponentialOptions options_;
};

}  // namespace convoke::optim
