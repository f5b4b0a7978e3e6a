#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/study/running/cell_runner.hpp"
#include "convoke/study/running/configuration.hpp"
#include "convoke/study/running/schedule.hpp"
#include "convoke/study/running/study_folder.hpp"

// A study whose runs are jobs of their own, in a cluster's queue: they are settled on beforehand, those that
// make intervals narrow enough when the ones before have ended.

namespace convoke::study {

/// All runs that there may be, `at_most` of every cell, round by round. A run's number is its place here.
std::vector<Task> tasks_of(const StudyFile& study, std::size_t cells);

/// The numbers of the runs to be made next, rising: of every cell the first `repeats`, then as many as it
/// takes, by the scatter of those before, until its makespan is known to the target, but at most twice as
/// many as there are. Runs that failed are made again.
std::vector<std::int64_t> wanted_tasks(const StudyFile& study, const std::vector<Configuration>& cells,
                                       std::span<const Measurement> runs);

/// Makes the run of a task, behind a warm-up if the study asks for one, and leaves what it took in a file
/// beside its folder, as measurements.csv; of a run that was ended by a signal nothing.
RunOutcome run_task(const Task& task, const std::vector<Configuration>& cells, const StudyFile& study,
                    const StudyFolder& folder, CellRunner& runner);

/// What tasks have left, as lines of measurements.csv.
struct Collected {
  std::vector<Measurement> runs;   ///< all
  std::vector<Measurement> added;  ///< those that were not there yet
};

/// measurements.csv and what tasks have left beside it since.
std::vector<Measurement> all_runs(const StudyFile& study, const std::vector<Configuration>& cells,
                                  const StudyFolder& folder);

/// Moves what tasks have left into measurements.csv.
Collected collect(const StudyFile& study, const std::vector<Configuration>& cells, const StudyFolder& folder);

/// Of wanted_tasks() those of cells of which a run has just come in. One that fails, or leaves nothing, is
/// not tried for ever: it waits for somebody who has looked.
std::vector<std::int64_t> further_tasks(const StudyFile& study, const std::vector<Configuration>& cells,
                                        const Collected& collected);

}  // namespace convoke::study
