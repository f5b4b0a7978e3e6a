#pragma once
#include "convoke/optim/schedule.hpp"

namespace convoke::optim {

/// Names and defaults are PyTorch's.
struct OneCycleOptions {
  double pct_start = 0.3;         ///< the part of all steps in which the rate rises, [0, 1]
  double div_factor = 25;         ///< the rate starts from the base rate / div_factor, >= 1
  double final_div_factor = 1e4;  ///< and ends at its start / final_div_factor, >= 1
};

/// Up to the base rate and down to almost nothing, each half a cosine (Smith and Topin, "Super-convergence",
/// 2018): PyTorch's OneCycleLR with anneal_strategy="cos", max_lr the base rate, and cycle_momentum=False:
/// the momentum stays as it is.
class OneCycleSchedule final : public Schedule {
 public:
  explicit OneCycleSchedule(OneCycleOptions options) : options_(options) {}
  /// Throws Error for a value out of range.
  static std::unique_ptr<Schedule> read(SettingsReader& settings);
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const override;
  Settings settings() const override;

 private:
  OneCycleOptions options_;
};

}  // namespace convoke::optim
