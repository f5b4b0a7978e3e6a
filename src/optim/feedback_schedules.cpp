#include <algorithm>
#include <cmath>

#include "optim/schedules.hpp"

// Schedules that look at validations, and the warm-up before any schedule.

namespace convoke::optim {
namespace {

// Names and defaults are Keras', but min_lr is written out.
class PlateauSchedule final : public Schedule {
 public:
  explicit PlateauSchedule(SettingsReader& settings) {
    factor_ = settings.get("factor", factor_);
    settings.check("factor", factor_ > 0 && factor_ < 1, "above 0 and below 1");
    patience_ = settings.get("patience", patience_);
    settings.check("patience", patience_ >= 1, "at least 1");
    min_delta_ = settings.get("min_delta", min_delta_);
    settings.check("min_delta", min_delta_ >= 0 && std::isfinite(min_delta_), "at least 0");
    cooldown_ = settings.get("cooldown", cooldown_);
    settings.check("cooldown", cooldown_ >= 0, "at least 0");
    min_learning_rate_ = settings.get("min_learning_rate", min_learning_rate_);
    settings.check("min_learning_rate", min_learning_rate_ >= 0 && std::isfinite(min_learning_rate_),
                   "at least 0");
  }
  double factor(std::int64_t, std::int64_t, std::int64_t) const override { return 1; }
  bool needs_validation() const override { return true; }
  void epoch_done(const EpochOutcome& outcome, Feedback& feedback) const override;
  Settings settings() const override {
    return {{"name", "plateau"},       {"factor", factor_},     {"patience", patience_},
            {"min_delta", min_delta_}, {"cooldown", cooldown_}, {"min_learning_rate", min_learning_rate_}};
  }

 private:
  double factor_ = 0.1;           // of each reduction
  std::int64_t patience_ = 10;    // epochs without progress before one
  double min_delta_ = 1e-4;       // what the validation loss must fall by to count as progress
  std::int64_t cooldown_ = 0;     // epochs after a reduction in which none are counted
  double min_learning_rate_ = 0;  // no reduction goes below it
};

// A loss that is not finite is no progress.
void PlateauSchedule::epoch_done(const EpochOutcome& outcome, Feedback& feedback) const {
  if (feedback.cooldown > 0) {
    --feedback.cooldown;
    feedback.wait = 0;
  }
  if (std::isfinite(outcome.validation_loss) && outcome.validation_loss < feedback.best - min_delta_) {
    feedback.best = outcome.validation_loss;
    feedback.wait = 0;
    return;
  }
  if (feedback.cooldown > 0 || ++feedback.wait < patience_) return;
  const double rate = outcome.base_rate * feedback.factor;
  if (rate <= min_learning_rate_) return;
  feedback.factor = std::max(rate * factor_, min_learning_rate_) / outcome.base_rate;
  feedback.cooldown = cooldown_;
  feedback.wait = 0;
}

class Warmup final : public Schedule {
 public:
  Warmup(double epochs, std::unique_ptr<Schedule> then) : epochs_(epochs), then_(std::move(then)) {}
  //   (step + 1) / rise for the first `rise` steps: the rate rises from 0, and no step is spent at 0
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const override {
    const auto rise = static_cast<std::int64_t>(std::ceil(epochs_ * static_cast<double>(per_epoch)));
    if (step < rise) return static_cast<double>(step + 1) / static_cast<double>(rise);
    return then_->factor(step - rise, per_epoch, total - rise);
  }
  bool needs_validation() const override { return then_->needs_validation(); }
  // Epochs in which the rate rises are not looked at.
  void epoch_done(const EpochOutcome& outcome, Feedback& feedback) const override {
    if (static_cast<double>(outcome.epochs_done) > epochs_) then_->epoch_done(outcome, feedback);
  }
  Settings settings() const override {
    Settings settings = then_->settings();
    settings.set("warmup_epochs", epochs_);
    return settings;
  }

 private:
  double epochs_;
  std::unique_ptr<Schedule> then_;
};

}  // namespace

std::unique_ptr<Schedule> plateau_schedule(SettingsReader& settings) {
  return std::make_unique<PlateauSchedule>(settings);
}

std::unique_ptr<Schedule> warmed_up(double epochs, std::unique_ptr<Schedule> then) {
  return std::make_unique<Warmup>(epochs, std::move(then));
}

}  // namespace convoke::optim
