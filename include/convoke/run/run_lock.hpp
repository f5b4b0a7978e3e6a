#pragma once
#include <filesystem>
#include <string>

#include "convoke/os/lock_file.hpp"
#include "convoke/os/thread.hpp"

namespace convoke::run {

/// Seconds without a renewal after which a process of another host counts as dead: longer than a busy file
/// system delays a renewal.
inline constexpr double kLockSilence = 90;

/// Locks the folder of a run for one job. A file `lock` in the folder names the process, which renews the
/// file's modification time while it lives. Made by the rank that writes the folder.
class RunLock {
 public:
  /// Throws Error with host, process and Slurm job if the owner of the lock is alive. Replaces the lock of a
  /// dead owner, see taken_over(). An owner on this host is dead when its process has ended, even as a
  /// zombie; an owner on another host is dead when the lock was not renewed for 90 seconds by the clock of
  /// the file system, or when it was this Slurm job before it was requeued.
  explicit RunLock(const std::filesystem::path& folder);
  /// "process 4711 on n1 (Slurm job 12)": the owner of the replaced lock; empty if there was none.
  std::string taken_over() const;

 private:
  os::LockFile lock_;
  os::PeriodicThread renewer_;
};

/// Returns "process 4711 on n1 (Slurm job 12)" if that process has locked `folder` and may be alive;
/// otherwise empty.
std::string lock_holder(const std::filesystem::path& folder);

/// True if `folder` has content besides its lock and the files of processes that try to take it. A process
/// that needs an empty folder asks once more when it has the lock: another job may have come and gone before.
bool has_content(const std::filesystem::path& folder);

}  // namespace convoke::run
