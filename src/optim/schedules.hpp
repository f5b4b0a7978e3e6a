#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/optim/schedule.hpp"

namespace convoke::optim {

/// A row of the table of schedules.
struct ScheduleEntry {
  std::string_view name;
  std::unique_ptr<Schedule> (*read)(SettingsReader& settings);
  std::vector<KeyDescription> (*keys)();
};

/// A schedule whose options are keys.
template <class Options, const auto& kKeys>
class KeyedSchedule : public Schedule {
 public:
  KeyedSchedule(std::string_view name, Options options) : options_(std::move(options)), name_(name) {}
  Settings settings() const final {
    Settings settings{{"name", name_}};
    write_keys(kKeys, options_, settings);
    return settings;
  }

 protected:
  const Options options_;

 private:
  std::string_view name_;
};

ScheduleEntry constant_schedule();
ScheduleEntry cosine_schedule();
ScheduleEntry exponential_schedule();
ScheduleEntry one_cycle_schedule();
ScheduleEntry piecewise_schedule();
ScheduleEntry plateau_schedule();
ScheduleEntry polynomial_schedule();
ScheduleEntry step_schedule();

/// Returns a schedule with a linear rise to the base rate over the first `epochs` > 0, not necessarily a
/// whole number (Goyal et al., "Accurate, large minibatch SGD", 2017), followed by another schedule, which
/// counts its steps from the end of the rise.
std::unique_ptr<Schedule> warmed_up(double epochs, std::unique_ptr<Schedule> then);

}  // namespace convoke::optim
