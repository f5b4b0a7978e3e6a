#include "convoke/optim/schedule.hpp"

#include <array>

#include "convoke/core/table.hpp"
#include "convoke/optim/constant_schedule.hpp"
#include "convoke/optim/cosine_schedule.hpp"
#include "convoke/optim/exponential_schedule.hpp"
#include "convoke/optim/one_cycle_schedule.hpp"
#include "convoke/optim/piecewise_schedule.hpp"
#include "convoke/optim/plateau_schedule.hpp"
#include "convoke/optim/polynomial_schedule.hpp"
#include "convoke/optim/step_schedule.hpp"
#include "convoke/optim/warmup.hpp"

namespace convoke::optim {
namespace {

struct ScheduleEntry {
  std::string_view name;
  std::unique_ptr<Schedule> (*read)(SettingsReader& settings);
};

constexpr std::array kSchedules{
    ScheduleEntry{"constant", ConstantSchedule::read},
    ScheduleEntry{"step", StepSchedule::read},
    ScheduleEntry{"exponential", ExponentialSchedule::read},
    ScheduleEntry{"cosine", CosineSchedule::read},
    ScheduleEntry{"piecewise", PiecewiseSchedule::read},
    ScheduleEntry{"polynomial", PolynomialSchedule::read},
    ScheduleEntry{"one_cycle", OneCycleSchedule::read},
    ScheduleEntry{"plateau", PlateauSchedule::read},
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
  return std::make_unique<Warmup>(warmup_epochs, std::move(schedule));
}

std::vector<std::string> schedule_names() { return names_in(kSchedules); }

}  // namespace convoke::optim
