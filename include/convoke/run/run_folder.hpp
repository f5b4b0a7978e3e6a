#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "convoke/mpi/communicator.hpp"
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
  /// the file system, or when it was this Slurm job before it was requeued. A thread renews the lock; if
  /// another job has taken it over meanwhile, since this one was suspended, it ends this job.
  explicit RunLock(const std::filesystem::path& folder,
                   std::chrono::milliseconds renewal = std::chrono::seconds(20));
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

/// The folder of a run; docs/formats.md describes its files. Every rank knows it, rank 0 writes.
class RunFolder {
 public:
  /// Creates `output`, or if that is empty `runs/<name>-<YYYYmmdd-HHMMSS>` (with -2, -3, ... if it exists). A
  /// folder with any content is used only with `resume`. Collective: the folder or the error is the same on
  /// all ranks. The folder is locked (RunLock) as long as rank 0 has this object. Throws Error naming the
  /// folder if it has content, is in use by another job, or cannot be written.
  static RunFolder create(const std::string& name, const std::filesystem::path& output, bool resume,
                          const mpi::Communicator& world);

  const std::filesystem::path& path() const { return path_; }
  /// The owner of a lock that was left behind, as RunLock describes it; empty if there was none, and on all
  /// ranks except 0.
  std::string taken_over() const { return lock_ ? lock_->taken_over() : std::string(); }
  std::filesystem::path file(const std::string& name) const { return path_ / name; }
  std::filesystem::path model() const { return file("model.h5"); }
  std::filesystem::path ensemble() const { return file("ensemble.h5"); }
  std::filesystem::path metrics() const { return file("metrics.jsonl"); }
  std::filesystem::path checkpoints() const { return file("checkpoints"); }
  std::filesystem::path checkpoints(std::int64_t member) const;

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  std::shared_ptr<RunLock> lock_;  // rank 0
};

}  // namespace convoke::run
