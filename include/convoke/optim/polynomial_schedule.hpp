#pragma once
#include "convoke/optim/schedule.hpp"

namespace convoke::optim {

struct PolynomialOptions {
  double power = 1;  ///< > 0; 1: a straight line
  double floor = 0;  ///< what is left of the rate at the end, [0, 1]
};

/// A power of what is left of the training, from the base rate to its floor: Keras' PolynomialDecay without
/// cycles.
class PolynomialSchedule final : public Schedule {
 public:
  explicit PolynomialSchedule(PolynomialOptions options) : options_(options) {}
  /// Throws Error for a value out of range.
  static std::unique_ptr<Schedule> read(SettingsReader& settings);
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const override;
  Settings settings() const override;

 private:
  PolynomialOptions options_;
};

}  // namespace convoke::optim
