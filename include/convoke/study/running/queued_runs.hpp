#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "convoke/study/running/configuration.hpp"
#include "convoke/study/running/configuration_runner.hpp"
#include "convoke/study/running/schedule.hpp"
#include "convoke/study/running/study_folder.hpp"

// A study that runs each measurement as a separate job in the queue of a cluster: the first runs are planned
// beforehand, and runs that narrow the intervals follow when the earlier ones have ended.

namespace convoke::study {

/// Returns all possible runs, `at_most` of every configuration, round by round. The number of a run is its
/// index here.
std::vector<Task> tasks_of(const StudyFile& study, std::size_t configurations);

/// Returns the numbers of the next runs, ascending: of every configuration the first `repeats`, then as many
/// as its makespan needs to reach the target, estimated from the scatter so far, but at most twice the
/// present number. Failed runs are repeated.
std::vector<std::int64_t> wanted_tasks(const StudyFile& study,
                                       const std::vector<Configuration>& configurations,
                                       std::span<const Measurement> runs);

/// Makes the run of a task, after a warm-up if the study asks for one, and writes its measurement to a file
/// next to its folder, in the format of measurements.csv; writes nothing if a signal ended the run. Returns a
/// run that is already in measurements.csv, unless it failed or was contended. Throws Error as
/// require_same_dataset().
RunOutcome run_task(const Task& task, const std::vector<Configuration>& configurations,
                    const StudyFile& study, const StudyFolder& folder, ConfigurationRunner& runner);

/// Throws Error if an earlier run of the same configuration was trained on another dataset: `run`, in
/// `folder`, is no repeat of it. An unknown dataset counts as equal.
void require_same_dataset(const Measurement& run, std::span<const Measurement> earlier,
                          const std::filesystem::path& folder);

/// The results of tasks, as lines of measurements.csv.
struct Collected {
  std::vector<Measurement> runs;   ///< all
  std::vector<Measurement> added;  ///< runs that were not in measurements.csv yet
};

/// Reads measurements.csv and the newer results of tasks.
std::vector<Measurement> all_runs(const StudyFile& study, const std::vector<Configuration>& configurations,
                                  const StudyFolder& folder);

/// Moves the results of tasks to measurements.csv, and adds the columns that the study file has now to all
/// runs whose folders still exist.
Collected collect(const StudyFile& study, const std::vector<Configuration>& configurations,
                  const StudyFolder& folder);

/// Returns the wanted_tasks() of configurations of which a run has just arrived. A configuration whose run
/// fails or has no result is not repeated for ever, but waits for the user.
std::vector<std::int64_t> further_tasks(const StudyFile& study,
                                        const std::vector<Configuration>& configurations,
                                        const Collected& collected);

}  // namespace convoke::study
