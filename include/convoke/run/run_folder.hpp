#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "convoke/mpi/communicator.hpp"
#include "convoke/run/run_lock.hpp"

namespace convoke::run {

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
