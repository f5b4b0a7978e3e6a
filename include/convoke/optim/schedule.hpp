#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"

namespace convoke::optim {

/// The result of an epoch, for a schedule that depends on it.
struct EpochOutcome {
  std::int64_t epochs_done = 0;  ///< this one included
  double validation_loss = 0;
  double base_rate = 0;  ///< what factors multiply, > 0
};

/// All that a schedule remembers of past epochs: a factor on the rate, and what it rests on. Numbers only, so
/// that a checkpoint can hold it.
struct Feedback {
  double factor = 1;
  double best = std::numeric_limits<double>::infinity();  ///< validation loss
  std::int64_t wait = 0;                                  ///< epochs without progress
  std::int64_t cooldown = 0;                              ///< epochs left in which nothing is counted
  friend bool operator==(const Feedback&, const Feedback&) = default;
};

/// The learning rate of a step: the base rate times factor(), a pure function, so that a restart needs no
/// state, times Feedback::factor. Holds options only.
class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Factor on the base rate at `step` (from 0) of `total` steps, `per_epoch` steps an epoch (> 0).
  virtual double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const = 0;
  /// True if epoch_done() needs the validation loss.
  virtual bool needs_validation() const { return false; }
  /// After each epoch's validation: may change the factor for the epochs to come.
  virtual void epoch_done(const EpochOutcome&, Feedback&) const {}
  /// The options with "name", such that the table makes an equal schedule of them.
  virtual Settings settings() const = 0;
  /// True if factor() depends on `total`: a run under such a schedule cannot be resumed with more epochs.
  virtual bool spans_training() const { return false; }
};

/// { name = "cosine", warmup_epochs = 5 }: one of schedule_names(); each takes warmup_epochs, a linear rise
/// from 0 before it. An empty table is "constant". Throws Error for an unknown name, key or value.
std::unique_ptr<Schedule> make_schedule(const Settings& settings);

std::vector<std::string> schedule_names();

/// What each schedule takes; first, without a name, what all of them take.
std::vector<OptionTable> schedule_tables();

}  // namespace convoke::optim
