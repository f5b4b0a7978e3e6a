#include "convoke/study/running/queued_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/study/running/finished_run.hpp"

namespace convoke::study {

namespace fs = std::filesystem;

namespace {

// True if this repeat needs no other run.
bool is_final(const Measurement& run) { return !run.has_mark("failed") && !run.has_mark("contended"); }

// Returns measurements.csv and the files that tasks have written. A repeat counts once: its second result is
// not added, unless the first failed or was contended.
std::pair<Collected, std::vector<fs::path>> gather(const StudyFile& study,
                                                   const std::vector<Configuration>& configurations,
                                                   const StudyFolder& folder) {
  Collected all{.runs = folder.read(), .added = {}};
  std::set<std::pair<std::size_t, std::int64_t>> made;  // configurations and repeats
  for (const Measurement& run : all.runs) {
    const auto configuration = find_configuration(configurations, run);
    if (configuration && is_final(run)) made.emplace(*configuration, run.repeat);
  }
  std::vector<fs::path> rows;
  for (const Task& task : tasks_of(study, configurations.size())) {
    const fs::path row = folder.row(configurations[task.configuration], task.repeat);
    if (!fs::exists(row)) continue;
    for (const Measurement& run : read_measurements(row)) {
      if (made.contains({task.configuration, task.repeat}) ||
          std::find(all.runs.begin(), all.runs.end(), run) != all.runs.end()) {
        continue;
      }
      all.runs.push_back(run);
      all.added.push_back(run);
    }
    rows.push_back(row);
  }
  return {std::move(all), std::move(rows)};
}

// Adds the columns that the study file has now to earlier runs, as far as their folders still exist. Returns
// true if there were any.
bool complete_columns(const StudyFile& study, const StudyFolder& folder, std::vector<Measurement>& runs) {
  bool changed = false;
  for (Measurement& run : runs) {
    const auto lacks = [&](const std::string& column) { return !run.further.contains(column); };
    if (run.has_mark("failed") || std::ranges::none_of(study.columns, lacks)) continue;
    try {
      const std::size_t before = run.further.size();
      run.further.merge(further_numbers(folder.run_at(coordinates(run), run.repeat), study.columns));
      changed = changed || run.further.size() > before;
    } catch (const Error&) {
      continue;  // the folder was removed
    }
  }
  return changed;
}

}  // namespace

std::vector<Task> tasks_of(const StudyFile& study, std::size_t configurations) {
  std::vector<Task> tasks;
  for (std::int64_t repeat = 1; repeat <= study.at_most; ++repeat) {
    for (const std::uint32_t configuration :
         order_of_round(static_cast<std::int64_t>(configurations), study.seed, repeat)) {
      tasks.push_back({configuration, repeat, false});
    }
  }
  return tasks;
}

std::vector<std::int64_t> wanted_tasks(const StudyFile& study,
                                       const std::vector<Configuration>& configurations,
                                       std::span<const Measurement> runs) {
  RunSchedule schedule(study, configurations.size());
  std::vector<std::set<std::int64_t>> made(configurations.size());  // repeats
  for (const Measurement& run : runs) {
    const auto configuration = find_configuration(configurations, run);
    if (!configuration) continue;
    schedule.record(*configuration, run);
    if (!run.has_mark("failed")) made[*configuration].insert(run.repeat);
  }
  std::vector<std::int64_t> left;
  for (std::size_t configuration = 0; configuration < configurations.size(); ++configuration) {
    // An estimate from few runs is imprecise: at most twice as many as before.
    const auto before = static_cast<std::int64_t>(made[configuration].size());
    left.push_back(std::min(schedule.runs_left(configuration), std::max(study.repeats, before)));
  }
  std::vector<std::int64_t> wanted;
  std::int64_t number = 0;
  for (const Task& task : tasks_of(study, configurations.size())) {
    if (left[task.configuration] > 0 && !made[task.configuration].contains(task.repeat)) {
      wanted.push_back(number);
      --left[task.configuration];
    }
    ++number;
  }
  return wanted;
}

RunOutcome run_task(const Task& task, const std::vector<Configuration>& configurations,
                    const StudyFile& study, const StudyFolder& folder, ConfigurationRunner& runner) {
  const Configuration& configuration = configurations[task.configuration];
  std::vector<Measurement> earlier = folder.read();
  const auto made = std::ranges::find_if(earlier, [&](const Measurement& run) {
    return run.repeat == task.repeat && is_final(run) &&
           find_configuration(configurations, run) == task.configuration;
  });
  if (made != earlier.end()) return {.measurement = *made, .failure = {}};
  const fs::path row = folder.row(configuration, task.repeat);
  fs::remove(row);
  const Configuration* warming = quickest(
      configurations, [&](const Configuration& other) {  // configurations that fit into this job's cores
        return other.recipe == configuration.recipe && other.at.threads == configuration.at.threads &&
               other.ranks_at_once() <= configuration.ranks_at_once();
      });
  for (std::int64_t i = 0; i < study.warm_up; ++i) {
    const std::string failure = runner.warm_up(*warming, folder.warm_up(configuration, task.repeat), [] {});
    if (!failure.empty()) fmt::print(stderr, "warm-up of {} FAILED: {}\n", configuration.recipe, failure);
  }
  RunOutcome outcome = runner.run(configuration, task.repeat, [] {});
  if (outcome.interrupted_by != 0) return outcome;
  for (std::int64_t repeat = 1; repeat <= study.at_most; ++repeat) {  // those that are not collected yet
    const fs::path other = folder.row(configuration, repeat);
    if (fs::exists(other)) std::ranges::copy(read_measurements(other), std::back_inserter(earlier));
  }
  require_same_dataset(outcome.measurement, earlier, folder.run(configuration, task.repeat));
  write_measurements(row, std::span(&outcome.measurement, 1));
  return outcome;
}

void require_same_dataset(const Measurement& run, std::span<const Measurement> earlier,
                          const fs::path& folder) {
  const auto is_on_another = [&](const Measurement& before) {
    return !before.has_mark("failed") && !before.dataset_hash.empty() &&
           before.dataset_hash != run.dataset_hash &&
           on_any_machine(coordinates(before)) == on_any_machine(coordinates(run));
  };
  if (run.dataset_hash.empty() || std::ranges::none_of(earlier, is_on_another)) return;
  throw Error(fmt::format("{}: its dataset has changed since this study began", folder.string()),
              "start a new study with another --output, or restore the dataset");
}

std::vector<Measurement> all_runs(const StudyFile& study, const std::vector<Configuration>& configurations,
                                  const StudyFolder& folder) {
  return gather(study, configurations, folder).first.runs;
}

Collected collect(const StudyFile& study, const std::vector<Configuration>& configurations,
                  const StudyFolder& folder) {
  auto [collected, rows] = gather(study, configurations, folder);
  const bool completed = complete_columns(study, folder, collected.runs);
  if (completed || !rows.empty()) write_measurements(folder.measurements(), collected.runs);
  for (const fs::path& row : rows) fs::remove(row);
  return collected;
}

std::vector<std::int64_t> further_tasks(const StudyFile& study,
                                        const std::vector<Configuration>& configurations,
                                        const Collected& collected) {
  std::set<std::size_t> go_on;
  for (const Measurement& run : collected.added) {
    const auto configuration = find_configuration(configurations, run);
    if (configuration && !run.has_mark("failed")) go_on.insert(*configuration);
  }
  const std::vector<Task> tasks = tasks_of(study, configurations.size());
  std::vector<std::int64_t> further = wanted_tasks(study, configurations, collected.runs);
  std::erase_if(further, [&](std::int64_t i) {
    return !go_on.contains(tasks[static_cast<std::size_t>(i)].configuration);
  });
  return further;
}

}  // namespace convoke::study
