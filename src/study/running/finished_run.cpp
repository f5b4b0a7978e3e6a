#include "convoke/study/running/finished_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/run/phases.hpp"

namespace convoke::study {
namespace {

namespace fs = std::filesystem;

std::optional<double> measured(const Settings& table, std::string_view path) {
  const double number = number_at(table, path);
  return std::isnan(number) ? std::nullopt : std::optional(number);
}

/// What the log of a run says about its epochs.
struct Epochs {
  std::optional<double> seconds;            // of an epoch
  std::optional<double> training_accuracy;  // of the last epoch, mean over the members
};

// Members train at the same time, those of one group in turn: the time of an epoch is that of the slowest
// group for all its members.
Epochs read_epochs(const fs::path& folder, std::int64_t ranks) {
  std::map<std::int64_t, std::map<std::int64_t, double>> epochs;  // seconds of each epoch by group
  const auto members = logged_epochs(folder, ranks);
  double accuracy = 0;
  for (const auto& [member, its_epochs] : members) {
    for (const LoggedEpoch& each : its_epochs) epochs[each.epoch][each.group] += each.seconds;
    accuracy += its_epochs.back().accuracy / static_cast<double>(members.size());
  }
  if (epochs.empty()) return {};
  Epochs result;
  double sum = 0;
  for (const auto& [epoch, by_group] : epochs) {
    double slowest = 0;
    for (const auto& [group, seconds] : by_group) slowest = std::max(slowest, seconds);
    sum += slowest;
  }
  result.seconds = sum / static_cast<double>(epochs.size());
  if (std::isfinite(accuracy)) result.training_accuracy = accuracy;
  return result;
}

// The epochs of the member that trained longest; summary.json has at its top those of the recipe, of which
// early stopping leaves out some.
std::int64_t trained_epochs(const Settings& summary) {
  std::optional<std::int64_t> most;
  for (const Settings& facts : tables_at(summary, "member_facts"))
    most = std::max(most, count_at(facts, "epochs"));  // none is less than any number
  return most ? *most : std::llround(require(summary, "epochs"));
}

std::map<std::string, double, std::less<>> numbers_in(const Settings& summary,
                                                      std::span<const std::string> columns) {
  std::map<std::string, double, std::less<>> numbers;
  for (const std::string& column : columns) {
    if (const auto number = measured(summary, column)) numbers[column] = *number;
  }
  return numbers;
}

// Returns "AMD EPYC 9B14 (family 25, model 17), 2 cores, DDR5", and another build than a release, whose times
// are not pooled with it; "" if the environment does not name the processor.
std::string machine_of(const Settings& environment) {
  std::string machine = text_at(environment, "cpu");
  if (machine.empty()) return {};
  if (const auto cores = count_at(environment, "cores")) {
    machine += fmt::format(", {} core{}", *cores, *cores == 1 ? "" : "s");
  }
  if (const std::string memory = text_at(environment, "memory"); !memory.empty()) machine += ", " + memory;
  const std::string build = text_at(environment, "build_type");
  if (!build.empty() && build != "Release") machine += ", not a release: " + build;
  return machine;
}

namespace fs = std::filesystem;

std::set<fs::path> members_of(const fs::path& folder) {
  std::set<fs::path> members;
  for (const fs::directory_entry& member : fs::directory_iterator(folder / "members"))
    members.insert(member.path());
  return members;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The epochs of all members, then the evaluation of their vote, as in the log of one run.
std::string log_of(const fs::path& folder, const std::set<fs::path>& members) {
  std::string text;
  for (const fs::path& member : members) {
    for (const Settings& record : metrics::read_json_lines(member / "metrics.jsonl")) {
      if (text_at(record, "event") != "evaluation") text += metrics::to_json(record) + "\n";
    }
  }
  for (const Settings& record : metrics::read_json_lines(folder / "metrics.jsonl")) {
    text += metrics::to_json(record) + "\n";
  }
  return text;
}

}  // namespace

Settings require_json(const std::filesystem::path& file) {
  if (std::optional<Settings> settings = metrics::read_json(file)) return *std::move(settings);
  throw Error(fmt::format("{} cannot be read", file.string()), "check that the run has ended");
}

double require(const Settings& table, const std::string& path) {
  if (const double number = number_at(table, path); !std::isnan(number)) return number;
  throw Error(fmt::format("{} has no number \"{}\"", table.where(), path),
              "check that this version of Convoke wrote it");
}

std::map<std::int64_t, std::vector<LoggedEpoch>> logged_epochs(const std::filesystem::path& run,
                                                               std::int64_t ranks) {
  const Settings summary = metrics::read_json(run / "summary.json").value_or(Settings());
  const bool gathered = !list_at(summary, "gathered_from").empty();
  std::map<std::int64_t, std::int64_t> first_ranks;  // by member
  for (const Settings& facts : tables_at(summary, "member_facts")) {
    const auto member = count_at(facts, "member"), rank = count_at(facts, "rank");
    if (member && rank) first_ranks[*member] = *rank;
  }
  std::map<std::int64_t, std::vector<LoggedEpoch>> members;
  for (const Settings& record : metrics::read_json_lines(run / "metrics.jsonl")) {
    if (text_at(record, "event") != "epoch") continue;
    const std::int64_t member = count_at(record, "member").value_or(0);
    const auto first_rank = first_ranks.find(member);
    const std::int64_t group = gathered                          ? member
                               : first_rank == first_ranks.end() ? member % std::max<std::int64_t>(ranks, 1)
                                                                 : first_rank->second;
    members[member].push_back({.epoch = std::llround(require(record, "epoch")),
                               .group = group,
                               .seconds = require(record, "seconds"),
                               .accuracy = number_at(record, "accuracy"),
                               .validation_accuracy = number_at(record, "validation_accuracy")});
  }
  return members;
}

Measurement read_finished_run(const fs::path& folder, std::span<const std::string> columns) {
  const Settings summary = require_json(folder / "summary.json");
  const Settings environment = require_json(folder / "environment.json");
  for (const Settings& member : tables_at(summary, "member_facts")) {
    if (const std::string failure = text_at(member, "failure"); !failure.empty()) {
      throw Error(fmt::format("member {:g} left the vote: {}", number_at(member, "member"), failure),
                  "a run is a measurement only if all its members were trained");
    }
  }
  Measurement run;
  run.ranks = std::llround(require(summary, "ranks"));
  run.threads = std::llround(require(summary, "threads"));
  run.epochs = trained_epochs(summary);
  run.makespan_seconds = require(summary, "makespan_seconds");
  run.images_per_second = require(summary, "images_per_second");
  run.core_seconds = require(summary, "core_seconds");
  run.accuracy = measured(summary, "test.accuracy");
  run.compute_seconds = measured(summary, "phases.compute.mean");
  run.communication_seconds = measured(summary, "phases.exposed_communication.mean");
  run.load_seconds = measured(summary, "phases.load.mean");
  run.evaluation_seconds = measured(summary, "phases.evaluation.mean");
  run.gather_seconds = measured(summary, "phases.gather.mean");
  run.validation_accuracy = measured(summary, "validation_accuracy");
  run.f1 = measured(summary, "test.f1");
  run.quadratic_kappa = measured(summary, "test.quadratic_kappa");
  run.roc_auc = measured(summary, "test.roc_auc");
  run.test_seconds = measured(summary, "test.seconds");
  const Epochs epochs = read_epochs(folder, run.ranks);
  run.epoch_seconds = epochs.seconds;
  run.training_accuracy = epochs.training_accuracy;
  run.further = numbers_in(summary, columns);
  run.machine = machine_of(environment);
  run.started = text_at(environment, "date");
  const std::optional<Settings> evaluation = metrics::read_json(folder / "evaluation.json");
  if (evaluation) run.dataset_hash = text_at(*evaluation, "content_hash");
  return run;
}

std::map<std::string, double, std::less<>> further_numbers(const fs::path& folder,
                                                           std::span<const std::string> columns) {
  return numbers_in(require_json(folder / "summary.json"), columns);
}

std::string bindings_of(const fs::path& folder) {
  std::string all;
  try {
    const Settings environment = require_json(folder / "environment.json");
    std::vector<std::string> hosts;  // in order of first appearance
    for (const Value& placement : list_at(environment, "placements")) {
      if (placement.table() == nullptr) return {};
      const std::string host = text_at(*placement.table(), "host");
      auto it = std::find(hosts.begin(), hosts.end(), host);
      if (it == hosts.end()) it = hosts.insert(it, host);
      all += fmt::format("{}host {}: {}", all.empty() ? "" : "; ", it - hosts.begin(),
                         text_at(*placement.table(), "cores"));
    }
  } catch (const Error&) {
    return {};
  }
  return all;
}

void complete_emulated_run(const fs::path& folder) {
  const std::set<fs::path> members = members_of(folder);
  Settings summary = require_json(folder / "summary.json");
  const double gathering = require(summary, "phases.gather.max");
  double makespan = 0, first_step = 0, test = 0, steps = 0, images = 0;
  std::array<std::vector<double>, run::kPhases.size()> seconds;  // of each rank, by phase
  Value::Array folders;
  for (const fs::path& member : members) {
    const Settings its = require_json(member / "summary.json");
    makespan = std::max(makespan, require(its, "makespan_seconds"));
    first_step = std::max(first_step, require(its, "seconds_to_first_step"));
    test += require(its, "test.seconds");
    const double its_steps = require(its, "phases.steps.max");
    steps = std::max(steps, its_steps);
    images += require(its, "images_per_second") * its_steps;
    for (std::size_t p = 0; p < run::kPhases.size(); ++p) {
      for (const double of_rank : numbers_at(its, fmt::format("rank_phases.{}", run::kPhases[p].key))) {
        const bool gathers = std::string_view(run::kPhases[p].key) == "gather";
        seconds[p].push_back(of_rank + (gathers ? gathering : 0));
      }
    }
    folders.emplace_back(member.string());
  }
  Settings phases, ranks;
  double exposed = 0, stepped = 0;
  for (std::size_t p = 0; p < run::kPhases.size(); ++p) {
    const std::vector<double>& all = seconds[p];
    if (all.empty()) continue;
    const std::string_view key = run::kPhases[p].key;
    if (key == "exposed_communication") exposed = sum_of(all);
    if (key == "steps") stepped = sum_of(all);
    phases.set(key, Settings{{"max", *std::ranges::max_element(all)},
                             {"mean", sum_of(all) / static_cast<double>(all.size())},
                             {"min", *std::ranges::min_element(all)}});
    ranks.set(key, Value::Array(all.begin(), all.end()));
  }
  makespan += gathering;
  summary.set("emulated", true);
  summary.set("makespan_seconds", makespan);
  summary.set("core_seconds", makespan * require(summary, "cores"));
  summary.set("images_per_second", steps > 0 ? images / steps : 0.0);
  summary.set("seconds_to_first_step", first_step);
  summary.set("exposed_share", stepped > 0 ? exposed / stepped : 0.0);
  summary.set("phases", std::move(phases));
  summary.set("rank_phases", std::move(ranks));
  summary.set_path("test.seconds", test / static_cast<double>(members.size()));
  summary.set("gathered_from", std::move(folders));
  os::replace_text(folder / "metrics.jsonl", log_of(folder, members));
  os::replace_text(folder / "summary.json", metrics::to_json(summary, true) + "\n");
}

}  // namespace convoke::study
