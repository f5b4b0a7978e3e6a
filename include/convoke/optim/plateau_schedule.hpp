#pragma once
#include "convoke/optim/schedule.hpp"

namespace convoke::optim {

/// Names and defaults are Keras', but min_lr is written out.
struct PlateauOptions {
  double factor = 0.1;           ///< of each reduction, (0, 1)
  std::int64_t patience = 10;    ///< epochs without progress before one, >= 1
  double min_delta = 1e-4;       ///< what the validation loss must fall by to count as progress, >= 0
  std::int64_t cooldown = 0;     ///< epochs after a reduction in which none are counted, >= 0
  double min_learning_rate = 0;  ///< no reduction goes below it, >= 0
};

/// The base rate, reduced whenever the validation loss has not fallen for some epochs: Keras'
/// ReduceLROnPlateau.
class PlateauSchedule final : public Schedule {
 public:
  explicit PlateauSchedule(PlateauOptions options) : options_(options) {}
  /// Throws Error for a value out of range.
  static std::unique_ptr<Schedule> read(SettingsReader& settings);
  double factor(std::int64_t, std::int64_t, std::int64_t) const override { return 1; }
  bool needs_validation() const override { return true; }
  void epoch_done(const EpochOutcome& outcome, Feedback& feedback) const override;
  Settings settings() const override;

 private:
  PlateauOptions options_;
};

}  // namespace convoke::optim
