#pragma once
#include "convoke/optim/schedule.hpp"

namespace convoke::optim {

struct CosineOptions {
  double floor = 0;  ///< what is left of the rate at the end, [0, 1]
};

/// Half a cosine from the base rate to its floor over all steps (Loshchilov and Hutter, "SGDR", ICLR 2017,
/// without restarts): Keras' CosineDecay with alpha = floor.
class CosineSchedule final : public Schedule {
 public:
  explicit CosineSchedule(CosineOptions options) : options_(options) {}
  /// Throws Error for a value out of range.
  static std::unique_ptr<Schedule> read(SettingsReader& settings);
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const override;
  Settings settings() const override;

 private:
  CosineOptions options_;
};

}  // namespace convoke::optim
