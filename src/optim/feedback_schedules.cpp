#include <algorithm>
#include <array>
#include <cmath>

#include "optim/schedules.hpp"

// The schedule that depends on validations, and the warm-up before any schedule.

namespace convoke::optim {
namespace {

/// Names and defaults are Keras', except that min_lr is written out.
struct PlateauOptions {
  double factor = 0.1;           ///< factor of each reduction, (0, 1)
  std::int64_t patience = 10;    ///< epochs without progress before a reduction, >= 1
  double min_delta = 1e-4;       ///< progress is a fall of the validation loss by more than this, >= 0
  std::int64_t cooldown = 0;     ///< epochs after a reduction that are not counted, >= 0
  double min_learning_rate = 0;  ///< no reduction goes below it, >= 0
};

constexpr std::array kPlateauScheduleKeys{
    key<&PlateauOptions::factor>(
        {.name = "factor", .range = {.above = 0, .below = 1}, .help = "factor of each reduction"}),
    key<&PlateauOptions::patience>(
        {.name = "patience", .range = {.least = 1}, .help = "epochs without progress before a reduction"}),
    key<&PlateauOptions::min_delta>({.name = "min_delta",
                                     .range = {.least = 0},
                                     .help = "progress is a fall of the validation loss by more than this"}),
    key<&PlateauOptions::cooldown>(
        {.name = "cooldown", .range = {.least = 0}, .help = "epochs after a reduction that are not counted"}),
    key<&PlateauOptions::min_learning_rate>(
        {.name = "min_learning_rate", .range = {.least = 0}, .help = "no reduction goes below it"}),
};

/// Reduces the base rate when the validation loss has not fallen for some epochs. Equal to Keras'
/// ReduceLROnPlateau.
class PlateauSchedule final : public KeyedSchedule<PlateauOptions, kPlateauScheduleKeys> {
 public:
  using KeyedSchedule::KeyedSchedule;
  double factor(std::int64_t, std::int64_t, std::int64_t) const override { return 1; }
  bool needs_validation() const override { return true; }
  void epoch_done(const EpochOutcome& outcome, Feedback& feedback) const override {
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
};

std::unique_ptr<Schedule> read_plateau(SettingsReader& settings) {
  PlateauOptions options;
  read_keys(kPlateauScheduleKeys, settings, options);
  return std::make_unique<PlateauSchedule>("plateau", std::move(options));
}

class Warmup final : public Schedule {
 public:
  /// `epochs` > 0, not necessarily a whole number.
  Warmup(double epochs, std::unique_ptr<Schedule> then) : epochs_(epochs), then_(std::move(then)) {}

  //   (step + 1) / rise for the first `rise` steps: the rate rises from 0, and no step has rate 0
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const override {
    const auto rise = static_cast<std::int64_t>(std::ceil(epochs_ * static_cast<double>(per_epoch)));
    if (step < rise) return static_cast<double>(step + 1) / static_cast<double>(rise);
    return then_->factor(step - rise, per_epoch, total - rise);
  }
  bool needs_validation() const override { return then_->needs_validation(); }
  bool spans_training() const override { return then_->spans_training(); }
  /// The schedule does not count epochs in which the rate rises.
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

ScheduleEntry plateau_schedule() {
  return {"plateau", read_plateau, [] { return describe_keys(kPlateauScheduleKeys); }};
}

std::unique_ptr<Schedule> warmed_up(double epochs, std::unique_ptr<Schedule> then) {
  return std::make_unique<Warmup>(epochs, std::move(then));
}

}  // namespace convoke::optim
