#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "convoke/os/lock_file.hpp"
#include "convoke/os/periodic_thread.hpp"

namespace convoke::run {

/// Seconds without a renewal after which a process of another host counts as dead: longer than renewals of a
/// busy file system are apart.
inline constexpr double kLockSilence = 90;

/// Holds the folder of a run for one job: a file `lock` in it names the process, which renews the file's time
/// of change while it lives. Made by the rank that writes the folder.
class RunLock {
 public:
  /// Throws Error with host, process and Slurm job of a holder that lives. A dead one is replaced, see
  /// taken_over(). On this host a holder is dead when its process has ended, reaped or not; elsewhere when
  /// the lock has not been renewed for 90 seconds by the clock of the file system, or when it was this Slurm
  /// job before it was requeued.
  explicit RunLock(const std::filesystem::path& folder);
  /// "process 4711 on n1 (Slurm job 12)", whose lock was left behind; empty if there was none.
  std::string taken_over() const;

 private:
  os::LockFile lock_;
  os::PeriodicThread renewer_;
};

/// "process 4711 on n1 (Slurm job 12)" that has locked `folder`, if it may still live; else empty.
std::string lock_holder(const std::filesystem::path& folder);

}  // namespace convoke::run
