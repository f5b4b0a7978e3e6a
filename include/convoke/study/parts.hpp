#pragma once
#include <cstdint>
#include <vector>

#include "convoke/study/agenda.hpp"
#include "convoke/study/cell_runner.hpp"
#include "convoke/study/configuration.hpp"
#include "convoke/study/study_folder.hpp"

// A study whose runs are jobs of their own, in a cluster's queue: how often each cell is run is settled
// beforehand.

namespace convoke::study {

/// `repeats` runs of every cell, round by round, in the order of their numbers.
std::vector<Task> tasks_of(const StudyFile& study, std::size_t cells);

/// The numbers of tasks of which there is no measurement in the folder, or one that failed; rising.
std::vector<std::int64_t> missing_tasks(const StudyFile& study, const std::vector<Configuration>& cells,
                                        const StudyFolder& folder);

/// Makes the run of a task, and leaves what it took in a file beside its folder, as measurements.csv; of a
/// run that was ended by a signal nothing.
RunOutcome run_task(const Task& task, const std::vector<Configuration>& cells, const StudyFolder& folder,
                    CellRunner& runner);

/// Moves what tasks have left into measurements.csv, which it returns. A line that is there already is not
/// added again.
std::vector<Measurement> collect(const StudyFile& study, const std::vector<Configuration>& cells,
                                 const StudyFolder& folder);

}  // namespace convoke::study
