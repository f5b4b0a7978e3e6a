#pragma once
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "convoke/os/file.hpp"

namespace convoke::os {

/// A file that is read now and then, and closed if it was not read for longest when too many are open: half
/// of the files that the process may open (ulimit -n), at most 4,096. Thus a process reads any number of
/// files. Any number of threads may call open().
class RecentFile {
 public:
  explicit RecentFile(std::filesystem::path path) : path_(std::move(path)) {}
  ~RecentFile();
  RecentFile(const RecentFile&) = delete;
  RecentFile& operator=(const RecentFile&) = delete;

  /// Returns the open file, which stays open as long as the caller keeps it. Throws Error if it cannot be
  /// opened, or is another one than when it was opened first.
  std::shared_ptr<const File> open();

  /// Returns the number of files that are open, for tests.
  static std::size_t count_open();

 private:
  using Identity = std::pair<std::uint64_t, std::uint64_t>;  // number and size; device numbers may change
  static Identity identity_of(const File& file);

  const std::filesystem::path path_;
  // Guarded by a lock for all files.
  std::shared_ptr<const File> file_;
  std::list<RecentFile*>::iterator place_;  // if it is open
  std::optional<Identity> identity_;        // since it was open first
};

}  // namespace convoke::os
