#include "convoke/study/analysis/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "convoke/core/error.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/recipe/toml.hpp"

namespace convoke::study {
namespace {

constexpr double kHour = 3600;

double above_0(SettingsReader& read, std::string_view key, double fallback) {
  const double value = read.get(key, fallback);
  read.check(key, value > 0 && std::isfinite(value), "above 0 and finite");
  return value;
}

std::optional<double> price(SettingsReader& read, std::string_view key) {
  return read.has(key) ? std::optional(above_0(read, key, 0)) : std::nullopt;
}

double not_negative(SettingsReader& read, std::string_view key) {
  const double value = read.get(key, 0.0);
  read.check(key, value >= 0 && std::isfinite(value), "at least 0 and finite");
  return value;
}

PricedMachine read_machine(const Settings& table) {
  SettingsReader read(table, "machine");
  PricedMachine machine;
  machine.name = read.require_string("name");
  machine.cores = read.get_count("cores", machine.cores, 0);
  machine.speed = above_0(read, "speed", machine.speed);
  machine.price_per_hour = price(read, "price_per_hour");
  machine.preemptible_price_per_hour = price(read, "preemptible_price_per_hour");
  if (const auto purchase = price(read, "purchase")) {
    Ownership own{.purchase = *purchase};
    read.require("years");
    own.years = above_0(read, "years", 0);
    own.watts = not_negative(read, "watts");
    own.price_per_kwh = not_negative(read, "price_per_kwh");
    own.use = read.get("use", own.use);
    read.check("use", own.use > 0 && own.use <= 1, "above 0 and at most 1");
    machine.ownership = own;
  }
  machine.preemption = {.hours_between = not_negative(read, "hours_between_preemptions"),
                        .restart_seconds = read.has("restart_seconds")
                                               ? std::optional(not_negative(read, "restart_seconds"))
                                               : std::nullopt,
                        .checkpoint_every = not_negative(read, "checkpoint_every_seconds"),
                        .checkpoint_seconds = not_negative(read, "checkpoint_seconds")};
  machine.data = {.megabytes_per_second = not_negative(read, "transfer_mb_per_second"),
                  .transfer_price_per_gb = not_negative(read, "transfer_price_per_gb"),
                  .storage_price_per_gb_month = not_negative(read, "storage_price_per_gb_month")};
  read.finish();
  if (!machine.price_per_hour && !machine.preemptible_price_per_hour && !machine.ownership) {
    read.fail(fmt::format("\"{}\" has no price", machine.name),
              "set price_per_hour, preemptible_price_per_hour, or purchase and years");
  }
  return machine;
}

// Returns the time from the start of the configuration's runs until they trained; only a study's own runs
// have it.
std::optional<double> measured_restart(const MeasuredConfiguration& configuration) {
  const Statistics *launch = configuration.find("launch_seconds"), *load = configuration.find("load_seconds");
  if (launch == nullptr) return {};
  return launch->mean + (load == nullptr ? 0 : load->mean);
}

// Returns the number of busy cores: if ranks share cores, the number of existing cores.
std::int64_t cores_of(const MeasuredConfiguration& configuration) {
  const Statistics *core_seconds = configuration.find("core_seconds"),
                   *makespan = configuration.find("makespan_seconds");
  if (!is_oversubscribed(configuration.marks) || core_seconds == nullptr) return configuration.at.workers();
  return std::max<std::int64_t>(1, std::llround(core_seconds->mean / makespan->mean));
}

Cost cost_of(const MeasuredConfiguration& configuration, const PricedMachine& machine, std::string terms,
             double price_per_hour) {
  const Statistics& makespan = *configuration.find("makespan_seconds");
  Cost cost{.at = configuration.at, .machine = machine.name, .terms = std::move(terms)};
  const bool preemptible = cost.terms == "preemptible";
  Preemption preemption = machine.preemption;
  if (preemptible && preemption.hours_between > 0) {
    cost.restart_measured = !preemption.restart_seconds;
    if (cost.restart_measured) preemption.restart_seconds = measured_restart(configuration);
    cost.restart_seconds = preemption.restart_seconds;
  }
  const std::int64_t cores = cores_of(configuration);
  if (machine.cores > 0 && cores > 0) cost.nodes = (cores + machine.cores - 1) / machine.cores;
  cost.price_per_hour = price_per_hour;
  const auto expected = [&](double seconds) {
    seconds /= machine.speed;
    return preemptible ? preemption.expected_seconds(seconds) : seconds;
  };
  const double hourly = static_cast<double>(cost.nodes) * price_per_hour / kHour;
  cost.seconds = expected(makespan.mean);
  cost.restart_share = 1 - makespan.mean / machine.speed / cost.seconds;
  cost.cost = hourly * cost.seconds;
  if (makespan.interval) {
    cost.interval =
        Interval{hourly * expected(makespan.interval->low), hourly * expected(makespan.interval->high)};
  }
  return cost;
}

// Parses the machine in a mode: "TPUv3-8", or "TPUv3-8 preemptible" for these terms.
bool names(const std::string& mode, const PricedMachine& machine) {
  return mode == machine.name || mode == machine.name + " preemptible";
}

void add_costs(std::vector<Cost>& all, const MeasuredConfiguration& configuration,
               const PricedMachine& machine) {
  const bool was_preemptible = configuration.at.mode == machine.name + " preemptible";
  if (machine.ownership && !was_preemptible) {
    all.push_back(cost_of(configuration, machine, "own", machine.ownership->per_hour()));
  }
  if (machine.price_per_hour && !was_preemptible) {
    all.push_back(cost_of(configuration, machine, "on demand", *machine.price_per_hour));
  }
  if (machine.preemptible_price_per_hour) {
    all.push_back(cost_of(configuration, machine, "preemptible", *machine.preemptible_price_per_hour));
  }
}

bool dominates(const ParetoPoint& a, const ParetoPoint& b) {
  const bool as_good = a.seconds <= b.seconds && a.cost <= b.cost && a.accuracy >= b.accuracy;
  return as_good && (a.seconds < b.seconds || a.cost < b.cost || a.accuracy > b.accuracy);
}

// Returns null for a configuration without a place in the figure.
const Statistics* accuracy_of(const MeasuredConfiguration* configuration) {
  return configuration == nullptr || is_oversubscribed(configuration->marks)
             ? nullptr
             : configuration->find("accuracy");
}

}  // namespace

double Ownership::per_hour() const {
  constexpr double kHoursPerYear = 8760;
  return purchase / (years * kHoursPerYear * use) + watts / 1000 * price_per_kwh;
}

double Preemption::expected_seconds(double seconds) const {
  if (seconds <= 0) return seconds;
  const double between = checkpoint_every > 0 ? std::min(checkpoint_every, seconds) : seconds;
  const double still = checkpoint_every > 0 ? checkpoint_seconds : 0;
  const double pieces = seconds / between;
  if (hours_between == 0) return seconds + pieces * still;
  const double mean = hours_between * kHour;
  return mean * std::exp(restart_seconds.value_or(0) / mean) * std::expm1((between + still) / mean) * pieces;
}

std::vector<PricedMachine> read_machines(const std::filesystem::path& toml) {
  const std::optional<std::string> text = read_text(toml);
  if (!text)
    throw Error(fmt::format("{}: cannot be read", toml.string()), "pass a TOML file with tables [[machine]]");
  const Settings document = recipe::parse_toml(*text, toml.string());
  SettingsReader read(document, "machines");
  std::vector<PricedMachine> machines;
  const std::string currency = read.get("currency", "");
  for (const Settings& table : read.tables("machine")) {
    machines.push_back(read_machine(table));
    machines.back().currency = currency;
    if (std::ranges::count(machines, machines.back().name, &PricedMachine::name) > 1) {
      throw Error(fmt::format("{}: machine \"{}\" occurs twice", table.where(), machines.back().name));
    }
  }
  read.finish();
  if (machines.empty()) throw Error(fmt::format("{}: has no [[machine]]", toml.string()));
  return machines;
}

std::vector<Cost> costs(std::span<const MeasuredConfiguration> configurations,
                        std::span<const PricedMachine> machines, const std::string& reference) {
  std::vector<Cost> all;
  if (machines.empty() && reference.empty()) return all;
  const PricedMachine& standard =
      reference.empty() ? machines.front() : find_in(machines, reference, "machine");
  const auto ran_on_one = [&](const Coordinates& at) {
    return std::ranges::any_of(machines, [&](const PricedMachine& m) { return names(at.mode, m); });
  };
  for (const MeasuredConfiguration& configuration : configurations) {
    const Statistics* makespan = configuration.find("makespan_seconds");
    if (makespan == nullptr || makespan->mean <= 0) continue;
    for (const PricedMachine& machine : machines) {
      if (names(configuration.at.mode, machine) || !ran_on_one(configuration.at))
        add_costs(all, configuration, machine);
    }
  }

  // The first cost on the reference: of the same configuration, or of the same work if modes are machines.
  const auto work_of = [](const Coordinates& at) {
    Coordinates work;
    work.system = at.system, work.machine = at.machine, work.fraction = at.fraction;
    return work;
  };
  std::map<Coordinates, const Cost*> references;
  for (const Cost& cost : all) {
    if (cost.machine != standard.name) continue;
    references.emplace(cost.at, &cost);
    references.emplace(work_of(cost.at), &cost);
  }
  for (Cost& cost : all) {
    const auto found = references.find(ran_on_one(cost.at) ? work_of(cost.at) : cost.at);
    if (found == references.end()) continue;
    const Cost& base = *found->second;
    if (base.machine != cost.machine || base.terms != cost.terms)
      cost.efficiency_percent = 100 * (1 - cost.cost / base.cost);
  }
  return all;
}

std::vector<ParetoPoint> pareto(std::span<const MeasuredConfiguration> configurations,
                                std::span<const Cost> costs) {
  std::vector<ParetoPoint> points;
  for (const Cost& cost : costs) {
    const MeasuredConfiguration* configuration = configuration_at(configurations, cost.at);
    if (const Statistics* accuracy = accuracy_of(configuration)) {
      points.push_back(
          {cost.at, cost.machine, cost.terms, cost.seconds, cost.cost, accuracy->mean, configuration->marks});
    }
  }
  for (const MeasuredConfiguration& configuration : configurations) {
    const Statistics *accuracy = accuracy_of(&configuration),
                     *makespan = configuration.find("makespan_seconds"),
                     *core_seconds = configuration.find("core_seconds");
    if (!costs.empty() || accuracy == nullptr || makespan == nullptr || core_seconds == nullptr) continue;
    points.push_back(
        {configuration.at, "", "", makespan->mean, core_seconds->mean, accuracy->mean, configuration.marks});
  }
  for (ParetoPoint& point : points) {
    point.optimal =
        std::ranges::none_of(points, [&](const ParetoPoint& other) { return dominates(other, point); });
  }
  return points;
}

}  // namespace convoke::study
