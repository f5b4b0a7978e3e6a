#include "convoke/optim/warmup.hpp"

#include <cmath>

namespace convoke::optim {

//   (step + 1) / rise for the first `rise` steps: the rate rises from 0, and no step is spent at 0
double Warmup::factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const {
  const auto rise = static_cast<std::int64_t>(std::ceil(epochs_ * static_cast<double>(per_epoch)));
  if (step < rise) return static_cast<double>(step + 1) / static_cast<double>(rise);
  return then_->factor(step - rise, per_epoch, total - rise);
}

void Warmup::epoch_done(const EpochOutcome& outcome, Feedback& feedback) const {
  if (static_cast<double>(outcome.epochs_done) > epochs_) then_->epoch_done(outcome, feedback);
}

Settings Warmup::settings() const {
  Settings settings = then_->settings();
  settings.set("warmup_epochs", epochs_);
  return settings;
}

}  // namespace convoke::optim
