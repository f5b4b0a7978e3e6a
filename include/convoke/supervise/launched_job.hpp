#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convoke/os/clock.hpp"
#include "convoke/os/process.hpp"

namespace convoke::supervise {

/// A job that a launcher, such as mpirun, runs in a child process. The launcher is ended if it does not end
/// after its run has finished, or an mpirun after its ranks have ended: that of Open MPI 4.1 with PMIx 4.2
/// sometimes waits for ever for a lock of its own, at the end (in PMIx_server_finalize), or if a rank is
/// killed, or fails, that connects to it (which is noticed on one host).
class LaunchedJob {
 public:
  static constexpr double kPatience = 60;  ///< seconds

  /// Starts `words`. `run`: the run folder of the job; `log`: gets the output, which otherwise goes where
  /// that of this process goes; `patience`: seconds. Throws Error if the launcher cannot be started.
  LaunchedJob(const std::vector<std::string>& words, std::filesystem::path run,
              const std::filesystem::path& log = {}, double patience = kPatience);

  /// Returns the exit code of the launcher; none while it runs. If the run has finished since the start, and
  /// `patience` seconds have passed since then, ends the launcher and returns 0. If no rank of an mpirun has
  /// run for `patience` seconds, ends it and returns 137, as for a killed rank.
  std::optional<int> exit_code();
  /// True if the launcher was ended because its run had finished.
  bool lingered() const { return lingered_; }
  /// Seconds from the start until now, or until the run had finished.
  double seconds() const { return watch_.seconds() - (lingered_ ? patience_ : 0); }
  void send(int signal) { child_.send(signal); }
  void end() { child_.end(); }

 private:
  bool has_finished() const;
  bool lost_ranks();  ///< true if no rank of an mpirun has run for `patience_` seconds

  std::filesystem::path run_;
  double patience_;
  std::filesystem::file_time_type summary_before_;  ///< of an earlier job that finished this run
  os::ChildProcess child_;
  bool is_mpirun_, has_started_ = false, has_lost_ranks_ = false;
  os::Stopwatch watch_, without_ranks_;
  os::Stopwatch since_;  ///< the last look at the files, or the first one that found the run finished
  bool finished_ = false, lingered_ = false;
};

}  // namespace convoke::supervise
