#pragma once
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

/// A file whose writes all fail for lack of space: a link to /dev/full. Removing it removes only the link.
inline void make_full(const std::filesystem::path& file) {
  std::filesystem::create_symlink("/dev/full", file);
}

/// Makes the next rename to `file` fail as on a full disk, in a program with support/failing_rename.cpp.
inline void fail_next_rename_to(const std::filesystem::path& file) { std::ofstream(file.string() + ".full"); }

/// During its lifetime, no file of this process, including files in memory (memfd), can grow beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};
