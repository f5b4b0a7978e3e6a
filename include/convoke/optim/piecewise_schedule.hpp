#pragma once
#include <vector>

#include "convoke/optim/schedule.hpp"

namespace convoke::optim {

struct PiecewiseOptions {
  std::vector<double> epochs;   ///< boundaries, rising, > 0, not necessarily whole
  std::vector<double> factors;  ///< from each boundary on, >= 0; as many as boundaries
};

/// The base rate, and from each boundary on the base rate times a factor. PyTorch's MultiStepLR with any
/// factors; Keras' PiecewiseConstantDecay holds a value for one step longer.
class PiecewiseSchedule final : public Schedule {
 public:
  explicit PiecewiseSchedule(PiecewiseOptions options) : options_(std::move(options)) {}
  /// Throws Error for values out of range or missing.
  static std::unique_ptr<Schedule> read(SettingsReader& settings);
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const override;
  Settings settings() const override;

 private:
  PiecewiseOptions options_;
};

}  // namespace convoke::optim
