#pragma once
#include "convoke/optim/schedule.hpp"

namespace convoke::optim {

struct StepOptions {
  double drop = 0.1;              ///< factor of each drop, (0, 1]
  std::int64_t every_epochs = 0;  ///< > 0; has no default in recipes
};

/// The base rate times drop^k after k * every_epochs epochs.
class StepSchedule final : public Schedule {
 public:
  explicit StepSchedule(StepOptions options) : options_(options) {}
  /// Throws Error for a value out of range or missing.
  static std::unique_ptr<Schedule> read(SettingsReader& settings);
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const override;
  Settings settings() const override;

 private:
  StepOptions options_;
};

}  // namespace convoke::optim
