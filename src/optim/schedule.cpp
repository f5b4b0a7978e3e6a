#include "convoke/optim/schedule.hpp"

#include <array>

#include "convoke/core/table.hpp"
#include "optim/schedules.hpp"

namespace convoke::optim {
namespace {

std::array<ScheduleEntry, 8> table_of_schedules() {
  return {constant_schedule(),  step_schedule(),       exponential_schedule(), cosine_schedule(),
          piecewise_schedule(), polynomial_schedule(), one_cycle_schedule(),   plateau_schedule()};
}

/// Options of all schedules.
struct WarmupOptions {
  double epochs = 0;
};
constexpr std::array kWarmupKeys{key<&WarmupOptions::epochs>(
    {.name = "warmup_epochs",
     .range = {.least = 0, .largest = 1e6},
     .help = "epochs in which the rate rises linearly from 0, before the schedule"})};

}  // namespace

std::unique_ptr<Schedule> make_schedule(const Settings& settings) {
  const std::string name = SettingsReader(settings, "schedule").get("name", "constant");
  const auto table = table_of_schedules();
  const ScheduleEntry& entry = find_in(table, name, "schedule", settings.where());

  SettingsReader read(settings, "schedule \"" + name + "\"");
  read.has("name");
  std::unique_ptr<Schedule> schedule = entry.read(read);
  WarmupOptions warmup;
  read_keys(kWarmupKeys, read, warmup);
  read.finish();
  if (warmup.epochs == 0) return schedule;
  return warmed_up(warmup.epochs, std::move(schedule));
}

std::vector<std::string> schedule_names() { return names_in(table_of_schedules()); }

std::vector<OptionTable> schedule_tables() {
  std::vector<OptionTable> tables{{"", describe_keys(kWarmupKeys)}};
  for (const ScheduleEntry& entry : table_of_schedules()) {
    tables.push_back({std::string(entry.name), entry.keys()});
  }
  return tables;
}

}  // namespace convoke::optim
