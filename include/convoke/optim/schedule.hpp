#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/settings.hpp"

namespace convoke::optim {

/// The learning rate of a step: a pure function, so that a restart needs no state.
class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Factor on the base rate at `step` (from 0) of `total` steps, `per_epoch` steps an epoch (> 0).
  virtual double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const = 0;
  /// The options with "name", such that the table makes an equal schedule of them.
  virtual Settings settings() const = 0;
};

/// { name = "cosine", warmup_epochs = 5 }: one of schedule_names(); each takes warmup_epochs, a linear rise
/// from 0 before it. An empty table is "constant". Throws Error for an unknown name, key or value.
std::unique_ptr<Schedule> make_schedule(const Settings& settings);

std::vector<std::string> schedule_names();

}  // namespace convoke::optim
