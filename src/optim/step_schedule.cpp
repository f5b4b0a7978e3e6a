#include "convoke/optim/step_schedule.hpp"

#include <cmath>

namespace convoke::optim {

std::unique_ptr<Schedule> StepSchedule::read(SettingsReader& settings) {
  StepOptions options;
  options.drop = settings.get("drop", options.drop);
  settings.check("drop", options.drop > 0 && options.drop <= 1, "above 0 and at most 1");
  options.every_epochs = settings.require_int("every_epochs");
  settings.check("every_epochs", options.every_epochs > 0, "at least 1");
  return std::make_unique<StepSchedule>(options);
}

//   drop ^ floor(epoch / every_epochs)
double StepSchedule::factor(std::int64_t step, std::int64_t per_epoch, std::int64_t) const {
  const std::int64_t drops = step / per_epoch / options_.every_epochs;
  return std::pow(options_.drop, static_cast<double>(drops));
}

Settings StepSchedule::settings() const {
  return {{"name", "step"}, {"drop", options_.drop}, {"every_epochs", options_.every_epochs}};
}

}  // namespace convoke::optim
