#include "convoke/optim/one_cycle_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace convoke::optim {
namespace {

//   b + (a - b) (1 + cos(pi x)) / 2: from a to b as x goes from 0 to 1
double anneal(double a, double b, double x) { return b + (a - b) / 2 * (1 + std::cos(std::numbers::pi * x)); }

}  // namespace

std::unique_ptr<Schedule> OneCycleSchedule::read(SettingsReader& settings) {
  OneCycleOptions options;
  options.pct_start = settings.get("pct_start", options.pct_start);
  settings.check("pct_start", options.pct_start >= 0 && options.pct_start <= 1, "at least 0 and at most 1");
  options.div_factor = settings.get("div_factor", options.div_factor);
  settings.check("div_factor", options.div_factor >= 1 && std::isfinite(options.div_factor), "at least 1");
  options.final_div_factor = settings.get("final_div_factor", options.final_div_factor);
  settings.check("final_div_factor", options.final_div_factor >= 1 && std::isfinite(options.final_div_factor),
                 "at least 1");
  return std::make_unique<OneCycleSchedule>(options);
}

// The top is reached at step pct_start * total - 1, the end at the last step.
double OneCycleSchedule::factor(std::int64_t step, std::int64_t, std::int64_t total) const {
  const double first = 1 / options_.div_factor;
  const double last = first / options_.final_div_factor;
  const double end = static_cast<double>(total - 1);
  const double top = options_.pct_start * static_cast<double>(total) - 1;
  const double now = std::min(static_cast<double>(step), end);
  if (now <= top) return top > 0 ? anneal(first, 1, now / top) : 1;
  return anneal(1, last, (now - top) / (end - top));
}

Settings OneCycleSchedule::settings() const {
  return {{"name", "one_cycle"},
          {"pct_start", options_.pct_start},
          {"div_factor", options_.div_factor},
          {"final_div_factor", options_.final_div_factor}};
}

}  // namespace convoke::optim
