#include "convoke/optim/cosine_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace convoke::optim {

std::unique_ptr<Schedule> CosineSchedule::read(SettingsReader& settings) {
  CosineOptions options;
  options.floor = settings.get("floor", options.floor);
  settings.check("floor", options.floor >= 0 && options.floor <= 1, "at least 0 and at most 1");
  return std::make_unique<CosineSchedule>(options);
}

//   floor + (1 - floor) (1 + cos(pi step / total)) / 2
double CosineSchedule::factor(std::int64_t step, std::int64_t, std::int64_t total) const {
  if (step >= total) return options_.floor;
  const double done = static_cast<double>(step) / static_cast<double>(total);
  return options_.floor + (1 - options_.floor) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

Settings CosineSchedule::settings() const { return {{"name", "cosine"}, {"floor", options_.floor}}; }

}  // namespace convoke::optim
