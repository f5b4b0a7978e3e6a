#include "convoke/optim/schedule.hpp"

#include <array>

#include "convoke/core/table.hpp"
#include "optim/schedules.hpp"

namespace convoke::optim {
namespace {

struct ScheduleEntry {
  std::string_view name;
  std::unique_ptr<Schedule> (*read)(SettingsReader& settings);
};

constexpr std::array kSchedules{
    ScheduleEntry{"constant", constant_schedule},       ScheduleEntry{"step", step_schedule},
    ScheduleEntry{"exponential", exponential_schedule}, ScheduleEntry{"cosine", cosine_schedule},
    ScheduleEntry{"piecewise", piecewise_schedule},     ScheduleEntry{"polynomial", polynomial_schedule},
    ScheduleEntry{"one_cycle", one_cycle_schedule},     ScheduleEntry{"plateau", plateau_schedule},
};

constexpr double kLongestWarmup = 1e6;  // epochs; also refuses infinity

}  // namespace

std::unique_ptr<Schedule> make_schedule(const Settings& settings) {
  const std::string name = SettingsReader(settings, "schedule").get("name", "constant");
  const ScheduleEntry& entry = find_in(kSchedules, name, "schedule", settings.where());

  SettingsReader read(settings, "schedule \"" + name + "\"");
  read.has("name");
  std::unique_ptr<Schedule> schedule = entry.read(read);
  const double warmup_epochs = read.get("warmup_epochs", 0.0);
  read.check("warmup_epochs", warmup_epochs >= 0 && warmup_epochs <= kLongestWarmup, "at least 0");
  read.finish();
  if (warmup_epochs == 0) return schedule;
  return warmed_up(warmup_epochs, std::move(schedule));
}

std::vector<std::string> schedule_names() { return names_in(kSchedules); }

}  // namespace convoke::optim
