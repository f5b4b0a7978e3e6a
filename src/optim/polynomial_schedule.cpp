#include "convoke/optim/polynomial_schedule.hpp"

#include <cmath>

namespace convoke::optim {

std::unique_ptr<Schedule> PolynomialSchedule::read(SettingsReader& settings) {
  PolynomialOptions options;
  options.power = settings.get("power", options.power);
  settings.check("power", options.power > 0 && std::isfinite(options.power), "above 0");
  options.floor = settings.get("floor", options.floor);
  settings.check("floor", options.floor >= 0 && options.floor <= 1, "at least 0 and at most 1");
  return std::make_unique<PolynomialSchedule>(options);
}

//   floor + (1 - floor) (1 - step / total) ^ power
double PolynomialSchedule::factor(std::int64_t step, std::int64_t, std::int64_t total) const {
  if (step >= total) return options_.floor;
  const double left = 1 - static_cast<double>(step) / static_cast<double>(total);
  return options_.floor + (1 - options_.floor) * std::pow(left, options_.power);
}

Settings PolynomialSchedule::settings() const {
  return {{"name", "polynomial"}, {"power", options_.power}, {"floor", options_.floor}};
}

}  // namespace convoke::optim
