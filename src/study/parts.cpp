#include "convoke/study/parts.hpp"

#include <algorithm>
#include <filesystem>

namespace convoke::study {

namespace fs = std::filesystem;

std::vector<Task> tasks_of(const StudyFile& study, std::size_t cells) {
  std::vector<Task> tasks;
  for (std::int64_t repeat = 1; repeat <= study.repeats; ++repeat) {
    for (const std::uint32_t cell : order_of_round(static_cast<std::int64_t>(cells), study.seed, repeat)) {
      tasks.push_back({cell, repeat, false});
    }
  }
  return tasks;
}

std::vector<std::int64_t> missing_tasks(const StudyFile& study, const std::vector<Configuration>& cells,
                                        const StudyFolder& folder) {
  std::vector<Measurement> runs = folder.read();
  const std::vector<Task> tasks = tasks_of(study, cells.size());
  for (const Task& task : tasks) {
    const fs::path row = folder.row(cells[task.cell], task.repeat);
    if (!fs::exists(row)) continue;
    const std::vector<Measurement> more = read_measurements(row);
    runs.insert(runs.end(), more.begin(), more.end());
  }
  std::vector<std::int64_t> missing;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Coordinates& at = cells[tasks[i].cell].at;
    const bool measured = std::any_of(runs.begin(), runs.end(), [&](const Measurement& run) {
      return run.repeat == tasks[i].repeat && !run.has_mark("failed") && coordinates(run) == at;
    });
    if (!measured) missing.push_back(static_cast<std::int64_t>(i));
  }
  return missing;
}

RunOutcome run_task(const Task& task, const std::vector<Configuration>& cells, const StudyFolder& folder,
                    CellRunner& runner) {
  const Configuration& cell = cells[task.cell];
  const fs::path row = folder.row(cell, task.repeat);
  fs::remove(row);
  runner.calibrate({cell});
  RunOutcome outcome = runner.run(cell, task.repeat, [] {});
  if (outcome.interrupted_by == 0) write_measurements(row, std::span(&outcome.measurement, 1));
  return outcome;
}

std::vector<Measurement> collect(const StudyFile& study, const std::vector<Configuration>& cells,
                                 const StudyFolder& folder) {
  std::vector<Measurement> runs = folder.read();
  std::vector<fs::path> taken;
  for (const Task& task : tasks_of(study, cells.size())) {
    const fs::path row = folder.row(cells[task.cell], task.repeat);
    if (!fs::exists(row)) continue;
    for (const Measurement& run : read_measurements(row)) {
      if (std::find(runs.begin(), runs.end(), run) == runs.end()) runs.push_back(run);
    }
    taken.push_back(row);
  }
  if (taken.empty()) return runs;
  write_measurements(folder.measurements(), runs);
  for (const fs::path& row : taken) fs::remove(row);
  return runs;
}

}  // namespace convoke::study
