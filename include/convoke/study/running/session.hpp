#pragma once
#include <vector>

#include "convoke/metrics/console.hpp"
#include "convoke/os/stop_signals.hpp"
#include "convoke/study/running/cell_runner.hpp"
#include "convoke/study/running/configuration.hpp"
#include "convoke/study/running/study_folder.hpp"

namespace convoke::study {

/// How a study went.
struct SessionResult {
  std::int64_t made = 0, failed = 0, disturbed = 0;  ///< runs of this session
  std::int64_t left_out = 0;                         ///< runs for which the budget had no time
  double run_seconds = 0;                            ///< of runs, warm-up included
  double own_seconds = 0;                            ///< beside them: spin loops, files, the table
  int interrupted_by = 0;                            ///< signal; 0: none
};

/// Makes the runs of a study that are not made yet, one after the other, and adds each to measurements.csv as
/// it ends. Shows on `console` how far it is. Returns when there is nothing left to run, the budget is used
/// up, or a signal has come (os::StopSignals must be there): then the run under way is lost, no other.
SessionResult run_session(const StudyFile& study, const std::vector<Configuration>& cells,
                          const StudyFolder& folder, const Surroundings& surroundings,
                          metrics::Console console);

}  // namespace convoke::study
