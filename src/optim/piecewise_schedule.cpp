#include "convoke/optim/piecewise_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace convoke::optim {

std::unique_ptr<Schedule> PiecewiseSchedule::read(SettingsReader& settings) {
  PiecewiseOptions options;
  for (const auto& [key, list] : {std::pair("epochs", &options.epochs), {"factors", &options.factors}}) {
    if (!settings.has(key)) {
      settings.fail(std::string("\"") + key + "\" is missing",
                    "for example epochs = [30, 60], factors = [0.1, 0.01]");
    }
    *list = settings.get(key, *list);
  }
  const auto usable = [](double number) { return number >= 0 && std::isfinite(number); };
  const bool rising = std::adjacent_find(options.epochs.begin(), options.epochs.end(),
                                         std::greater_equal<>()) == options.epochs.end();
  settings.check("epochs",
                 rising && !options.epochs.empty() && options.epochs.front() > 0 &&
                     std::all_of(options.epochs.begin(), options.epochs.end(), usable),
                 "rising numbers above 0");
  settings.check("factors", options.factors.size() == options.epochs.size(), "as many numbers as \"epochs\"");
  settings.check("factors", std::all_of(options.factors.begin(), options.factors.end(), usable),
                 "at least 0");
  return std::make_unique<PiecewiseSchedule>(std::move(options));
}

//   factors[k] for the last k with epochs[k] <= step / per_epoch, 1 before the first
double PiecewiseSchedule::factor(std::int64_t step, std::int64_t per_epoch, std::int64_t) const {
  double factor = 1;
  for (std::size_t k = 0; k < options_.epochs.size(); ++k) {
    const double begin = std::ceil(options_.epochs[k] * static_cast<double>(per_epoch));
    if (static_cast<double>(step) >= begin) factor = options_.factors[k];
  }
  return factor;
}

Settings PiecewiseSchedule::settings() const {
  return {{"name", "piecewise"},
          {"epochs", Value::Array(options_.epochs.begin(), options_.epochs.end())},
          {"factors", Value::Array(options_.factors.begin(), options_.factors.end())}};
}

}  // namespace convoke::optim
