#pragma once
#include "convoke/optim/schedule.hpp"

namespace convoke::optim {

/// The base rate, always.
class ConstantSchedule final : public Schedule {
 public:
  static std::unique_ptr<Schedule> read(SettingsReader& settings);
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const override;
  Settings settings() const override;
};

}  // namespace convoke::optim
