#include "convoke/optim/constant_schedule.hpp"

namespace convoke::optim {

std::unique_ptr<Schedule> ConstantSchedule::read(SettingsReader&) {
  return std::make_unique<ConstantSchedule>();
}

double ConstantSchedule::factor(std::int64_t, std::int64_t, std::int64_t) const { return 1; }

Settings ConstantSchedule::settings() const { return {{"name", "constant"}}; }

}  // namespace convoke::optim
