#include "convoke/os/recent_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "convoke/core/error.hpp"

namespace convoke::os {
namespace {

std::size_t most_open() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / 2, 1, 4096));
}

// All files that are open; the file that was used last comes first.
struct OpenFiles {
  std::mutex mutex;
  std::list<RecentFile*> recent;
  const std::size_t most = most_open();
};

// Never destroyed: files of static objects may be closed last.
OpenFiles& open_files() {
  static OpenFiles& files = *new OpenFiles;
  return files;
}

}  // namespace

RecentFile::~RecentFile() {
  OpenFiles& all = open_files();
  const std::lock_guard lock(all.mutex);
  if (file_) all.recent.erase(place_);
}

// A slow file system must not stop threads that read other files, so the lock is not held during the call.
std::shared_ptr<const File> RecentFile::open() {
  OpenFiles& all = open_files();
  {
    const std::lock_guard lock(all.mutex);
    if (file_) {
      all.recent.splice(all.recent.begin(), all.recent, place_);
      return file_;
    }
  }
  auto opened = std::make_shared<const File>(path_, Access::kRead);
  const Identity identity = identity_of(*opened);
  std::shared_ptr<const File> closed;  // without the lock
  const std::lock_guard lock(all.mutex);
  if (identity_.value_or(identity) != identity) {
    throw Error(path_.string() + ": was replaced by another file while it is in use",
                "start again, and leave the files of a running job alone");
  }
  identity_ = identity;
  if (file_) return file_;  // another thread was faster
  file_ = std::move(opened);
  place_ = all.recent.insert(all.recent.begin(), this);
  if (all.recent.size() > all.most) {
    closed = std::exchange(all.recent.back()->file_, nullptr);
    all.recent.pop_back();
  }
  return file_;
}

std::size_t RecentFile::count_open() {
  OpenFiles& all = open_files();
  const std::lock_guard lock(all.mutex);
  return all.recent.size();
}

RecentFile::Identity RecentFile::identity_of(const File& file) {
  struct stat facts {};
  if (::fstat(file.descriptor(), &facts) != 0) {
    throw Error(file.path().string() + ": cannot be read: " + reason_of(errno));
  }
  return {static_cast<std::uint64_t>(facts.st_ino), static_cast<std::uint64_t>(facts.st_size)};
}

}  // namespace convoke::os
