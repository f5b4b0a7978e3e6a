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

struct Entry {
  std::string_view name;
  std::unique_ptr<Schedule> (*read)(SettingsReader& settings);
};

constexpr std::array kSchedules{
    Entry{"constant", ConstantSchedule::read},       Entry{"step", StepSchedule::read},
    Entry{"exponential", ExponentialSchedule::read}, Entry{"cosine", CosineSchedule::read},
    Entry{"piecewise", PiecewiseSchedule::read},     Entry{"polynomial", PolynomialSchedule::read},
    Entry{"one_cycle", OneCycleSchedule::read},      Entry{"plateau", PlateauSchedule::read},
};

constexpr double kLongestWarmup = 1e6;  // epochs; also refuses infinity

}  // namespace

std::unique_ptr<Schedule> make_schedule(const Settings& settings) {
  const std::string name = SettingsReader(settings, "schedule").get("name", "constant");
  const Entry& entry = find_in(kSchedules, name, "schedule", settings.where());

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
