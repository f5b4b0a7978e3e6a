#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/metrics/console.hpp"
#include "convoke/study/running/configuration.hpp"
#include "convoke/study/running/configuration_runner.hpp"
#include "convoke/study/running/study_folder.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// Returns a header line and one line for each configuration: counted runs, mean makespan, its 95 % interval
/// and relative error, accuracy, and in capitals why figures are not reliable; such a line begins with "!".
/// A last line names other configurations that `runs` has.
std::vector<std::string> configuration_table(std::span<const Configuration> configurations,
                                             std::span<const Measurement> runs);

/// The outcome of a session.
struct SessionResult {
  std::int64_t made = 0, failed = 0, contended = 0;  ///< runs of this session
  std::int64_t left_out = 0;                         ///< runs for which the time budget was too short
  bool measured_energy = false;                      ///< the processor has energy counters that can be read
  double run_seconds = 0;                            ///< of runs, including warm-ups
  double own_seconds = 0;                            ///< in addition: spin loops, files, the table
  int interrupted_by = 0;                            ///< signal; 0: none
};

/// Collects the results of tasks (queued_runs.hpp), then makes the missing runs of a study, one after the
/// other, and adds each to measurements.csv when it ends. Shows the progress on `console`. Returns when no
/// run is left, the budget is used up, or a signal has arrived (os::StopSignals must exist): then only the
/// current run is lost.
SessionResult run_session(const StudyFile& study, const std::vector<Configuration>& configurations,
                          const StudyFolder& folder, const RunEnvironment& environment,
                          metrics::Console console);

}  // namespace convoke::study
