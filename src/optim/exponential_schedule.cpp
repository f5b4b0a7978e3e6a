#include "convoke/optim/exponential_schedule.hpp"

#include <cmath>

namespace convoke::optim {

std::unique_ptr<Schedule> ExponentialSchedule::read(SettingsReader& settings) {
  ExponentialOptions options;
  if (!settings.has("rate")) settings.fail("\"rate\" is missing", "for example rate = 0.95");
  options.rate = settings.get("rate", options.rate);
  settings.check("rate", options.rate > 0 && options.rate <= 1, "above 0 and at most 1");
  options.epochs = settings.get("epochs", options.epochs);
  settings.check("epochs", options.epochs > 0 && std::isfinite(options.epochs), "above 0");
  return std::make_unique<ExponentialSchedule>(options);
}

//   rate ^ (step / (per_epoch epochs))
double ExponentialSchedule::factor(std::int64_t step, std::int64_t per_epoch, std::int64_t) const {
  const double epoch = static_cast<double>(step) / static_cast<double>(per_epoch);
  return std::pow(options_.rate, epoch / options_.epochs);
}

Settings ExponentialSchedule::settings() const {
  return {{"name", "exponential"}, {"rate", options_.rate}, {"epochs", options_.epochs}};
}

}  // namespace convoke::optim
