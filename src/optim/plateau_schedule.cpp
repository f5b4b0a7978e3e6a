#include "convoke/optim/plateau_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::optim {

std::unique_ptr<Schedule> PlateauSchedule::read(SettingsReader& settings) {
  PlateauOptions options;
  options.factor = settings.get("factor", options.factor);
  settings.check("factor", options.factor > 0 && options.factor < 1, "above 0 and below 1");
  options.patience = settings.get("patience", options.patience);
  settings.check("patience", options.patience >= 1, "at least 1");
  options.min_delta = settings.get("min_delta", options.min_delta);
  settings.check("min_delta", options.min_delta >= 0 && std::isfinite(options.min_delta), "at least 0");
  options.cooldown = settings.get("cooldown", options.cooldown);
  settings.check("cooldown", options.cooldown >= 0, "at least 0");
  options.min_learning_rate = settings.get("min_learning_rate", options.min_learning_rate);
  settings.check("min_learning_rate",
                 options.min_learning_rate >= 0 && std::isfinite(options.min_learning_rate), "at least 0");
  return std::make_unique<PlateauSchedule>(options);
}

void PlateauSchedule::epoch_done(const EpochOutcome& outcome, Feedback& feedback) const {
  if (feedback.cooldown > 0) {
    --feedback.cooldown;
    feedback.wait = 0;
  }
  if (std::isfinite(outcome.validation_loss) &&
      outcome.validation_loss < feedback.best - options_.min_delta) {
    feedback.best = outcome.validation_loss;
    feedback.wait = 0;
    return;
  }
  if (feedback.cooldown > 0 || ++feedback.wait < options_.patience) return;
  const double rate = outcome.base_rate * feedback.factor;
  if (rate <= options_.min_learning_rate) return;
  feedback.factor = std::max(rate * options_.factor, options_.min_learning_rate) / outcome.base_rate;
  feedback.cooldown = options_.cooldown;
  feedback.wait = 0;
}

Settings PlateauSchedule::settings() const {
  return {{"name", "plateau"},
          {"factor", options_.factor},
          {"patience", options_.patience},
          {"min_delta", options_.min_delta},
          {"cooldown", options_.cooldown},
          {"min_learning_rate", options_.min_learning_rate}};
}

}  // namespace convoke::optim
