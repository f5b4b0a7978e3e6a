#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "convoke/run/periodic_thread.hpp"

namespace convoke::run {

/// After so many seconds without a renewal, whoever is elsewhere is taken for gone: longer than renewals of a
/// busy file system are apart.
inline constexpr double kLockSilence = 90;

/// Holds the folder of a run for one job: a file `lock` in it says who does, and its time of change is
/// renewed while he lives. Made by the rank that writes the folder.
class RunLock {
 public:
  /// Throws Error with host, process and Slurm job of a holder that lives. One that does not is told by
  /// taken_over(): on this host his process is gone; elsewhere the lock has not been renewed for 90 seconds
  /// by the clock of the file system, or he was this Slurm job before it was requeued.
  explicit RunLock(const std::filesystem::path& folder);
  ~RunLock();  ///< the folder is free again
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// "process 4711 on n1 (Slurm job 12)", whose lock was left behind; empty if there was none.
  const std::string& taken_over() const { return taken_over_; }

 private:
  std::filesystem::path file_;
  std::string taken_over_;
  std::optional<PeriodicThread> renewer_;
};

/// "process 4711 on n1 (Slurm job 12)" that has locked `folder`, if it may still live; else empty.
std::string lock_holder(const std::filesystem::path& folder);

}  // namespace convoke::run
