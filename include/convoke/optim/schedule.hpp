#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"

namespace convoke::optim {

/// The result of an epoch, for schedules that depend on it.
struct EpochOutcome {
  std::int64_t epochs_done = 0;  ///< epochs done, including this one
  double validation_loss = 0;
  double base_rate = 0;  ///< the rate that factors multiply, > 0
};

/// All that a schedule remembers of past epochs: a factor on the rate, and the numbers that it depends on.
/// Numbers only, so that a checkpoint can hold it.
struct Feedback {
  double factor = 1;
  double best = std::numeric_limits<double>::infinity();  ///< lowest validation loss
  std::int64_t wait = 0;                                  ///< epochs without progress
  std::int64_t cooldown = 0;                              ///< remaining epochs that are not counted
  friend bool operator==(const Feedback&, const Feedback&) = default;
};

/// The learning rate of a step is the base rate times factor() times Feedback::factor. factor() is a pure
/// function, so a restart needs no state. Holds only options.
class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Returns the factor on the base rate at `step` (from 0) of `total` steps, with `per_epoch` steps per
  /// epoch (> 0).
  virtual double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const = 0;
  /// True if epoch_done() needs the validation loss.
  virtual bool needs_validation() const { return false; }
  /// Called after each epoch's validation; may change the factor for later epochs.
  virtual void epoch_done(const EpochOutcome&, Feedback&) const {}
  /// Returns the options with "name", from which the table makes an equal schedule.
  virtual Settings settings() const = 0;
  /// True if factor() depends on `total`: a run with such a schedule cannot be resumed with more epochs.
  virtual bool spans_training() const { return false; }
};

/// Makes a schedule from { name = "cosine", warmup_epochs = 5 }, where the name is one of schedule_tables().
/// Every schedule accepts warmup_epochs, a linear rise from 0 before it. An empty table means "constant".
/// Throws Error for an unknown name, key or value.
std::unique_ptr<Schedule> make_schedule(const Settings& settings);

/// Returns the options of each schedule. The first table has no name and holds the options of all schedules.
std::vector<OptionTable> schedule_tables();

}  // namespace convoke::optim
