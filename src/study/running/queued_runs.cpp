#include "convoke/study/running/queued_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

namespace convoke::study {

namespace fs = std::filesystem;

namespace {

// Returns measurements.csv and the files that tasks have written.
std::pair<Collected, std::vector<fs::path>> gather(const StudyFile& study,
                                                   const std::vector<Configuration>& cells,
                                                   const StudyFolder& folder) {
  Collected all{.runs = folder.read(), .added = {}};
  std::vector<fs::path> rows;
  for (const Task& task : tasks_of(study, cells.size())) {
    const fs::path row = folder.row(cells[task.cell], task.repeat);
    if (!fs::exists(row)) continue;
    for (const Measurement& run : read_measurements(row)) {
      if (std::find(all.runs.begin(), all.runs.end(), run) != all.runs.end()) continue;
      all.runs.push_back(run);
      all.added.push_back(run);
    }
    rows.push_back(row);
  }
  return {std::move(all), std::move(rows)};
}

}  // namespace

std::vector<Task> tasks_of(const StudyFile& study, std::size_t cells) {
  std::vector<Task> tasks;
  for (std::int64_t repeat = 1; repeat <= study.at_most; ++repeat) {
    for (const std::uint32_t cell : order_of_round(static_cast<std::int64_t>(cells), study.seed, repeat)) {
      tasks.push_back({cell, repeat, false});
    }
  }
  return tasks;
}

std::vector<std::int64_t> wanted_tasks(const StudyFile& study, const std::vector<Configuration>& cells,
                                       std::span<const Measurement> runs) {
  RunSchedule schedule(study, cells.size());
  std::vector<std::set<std::int64_t>> made(cells.size());  // repeats
  for (const Measurement& run : runs) {
    const auto cell = find_cell(cells, run);
    if (!cell) continue;
    schedule.record(*cell, run);
    if (!run.has_mark("failed")) made[*cell].insert(run.repeat);
  }
  std::vector<std::int64_t> left;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    // An estimate from few runs is imprecise: at most twice as many as before.
    const auto before = static_cast<std::int64_t>(made[cell].size());
    left.push_back(std::min(schedule.runs_left(cell), std::max(study.repeats, before)));
  }
  std::vector<std::int64_t> wanted;
  std::int64_t number = 0;
  for (const Task& task : tasks_of(study, cells.size())) {
    if (left[task.cell] > 0 && !made[task.cell].contains(task.repeat)) {
      wanted.push_back(number);
      --left[task.cell];
    }
    ++number;
  }
  return wanted;
}

RunOutcome run_task(const Task& task, const std::vector<Configuration>& cells, const StudyFile& study,
                    const StudyFolder& folder, CellRunner& runner) {
  const Configuration& cell = cells[task.cell];
  const fs::path row = folder.row(cell, task.repeat);
  fs::remove(row);
  runner.calibrate({cell});
  const Configuration* warming =
      quickest(cells, [&](const Configuration& other) {  // cells that fit into this job's cores
        return other.recipe == cell.recipe && other.at.threads == cell.at.threads &&
               other.at.ranks <= cell.at.ranks;
      });
  for (std::int64_t i = 0; i < study.warm_up; ++i) {
    const std::string failure = runner.warm_up(*warming, folder.warm_up(cell, task.repeat), [] {});
    if (!failure.empty()) fmt::print(stderr, "warm-up of {} FAILED: {}\n", cell.recipe, failure);
  }
  RunOutcome outcome = runner.run(cell, task.repeat, [] {});
  if (outcome.interrupted_by == 0) write_measurements(row, std::span(&outcome.measurement, 1));
  return outcome;
}

std::vector<Measurement> all_runs(const StudyFile& study, const std::vector<Configuration>& cells,
                                  const StudyFolder& folder) {
  return gather(study, cells, folder).first.runs;
}

Collected collect(const StudyFile& study, const std::vector<Configuration>& cells,
                  const StudyFolder& folder) {
  const auto [collected, rows] = gather(study, cells, folder);
  if (rows.empty()) return collected;
  write_measurements(folder.measurements(), collected.runs);
  for (const fs::path& row : rows) fs::remove(row);
  return collected;
}

std::vector<std::int64_t> further_tasks(const StudyFile& study, const std::vector<Configuration>& cells,
                                        const Collected& collected) {
  std::set<std::size_t> go_on;
  for (const Measurement& run : collected.added) {
    const auto cell = find_cell(cells, run);
    if (cell && !run.has_mark("failed")) go_on.insert(*cell);
  }
  const std::vector<Task> tasks = tasks_of(study, cells.size());
  std::vector<std::int64_t> further = wanted_tasks(study, cells, collected.runs);
  std::erase_if(further,
                [&](std::int64_t i) { return !go_on.contains(tasks[static_cast<std::size_t>(i)].cell); });
  return further;
}

}  // namespace convoke::study
