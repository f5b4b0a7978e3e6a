#pragma once
#include "convoke/optim/schedule.hpp"

namespace convoke::optim {

/// A linear rise to the base rate over the first epochs (Goyal et al., "Accurate, large minibatch SGD",
/// 2017), and then another schedule, which begins when the rise is over and counts its steps from there.
class Warmup final : public Schedule {
 public:
  /// `epochs` > 0, not necessarily whole.
  Warmup(double epochs, std::unique_ptr<Schedule> then) : epochs_(epochs), then_(std::move(then)) {}
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const override;
  bool needs_validation() const override { return then_->needs_validation(); }
  /// Epochs in which the rate rises are not looked at.
  void epoch_done(const EpochOutcome& outcome, Feedback& feedback) const override;
  /// Those of the schedule that follows, and warmup_epochs.
  Settings settings() const override;

 private:
  double epochs_;
  std::unique_ptr<Schedule> then_;
};

}  // namespace convoke::optim
