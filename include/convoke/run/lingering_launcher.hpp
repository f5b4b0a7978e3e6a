#pragma once
#include <filesystem>

#include "convoke/os/clock.hpp"

namespace convoke::run {

/// Notices a launcher that does not end after its run has finished. The mpirun of Open MPI 4.1 with PMIx 4.2
/// sometimes waits for ever for a lock of its own (in PMIx_server_finalize). It may be killed: its ranks have
/// ended, and all files are written.
class LingeringLauncher {
 public:
  static constexpr double kPatience = 60;  ///< seconds

  /// `run`: the run folder of the job that the launcher starts; `patience`: seconds.
  explicit LingeringLauncher(std::filesystem::path run, double patience = kPatience);

  /// True if the run has finished since this object exists, and `patience` seconds have passed since then.
  /// Looks at the files at most ten times in `patience`.
  bool lingers();

 private:
  bool has_finished() const;

  std::filesystem::path run_;
  double patience_;
  std::filesystem::file_time_type summary_before_;  ///< of an earlier job that finished this run
  bool finished_ = false;
  os::Stopwatch since_;  ///< the last look, or the first one that found the run finished
};

}  // namespace convoke::run
