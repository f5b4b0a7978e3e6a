#include "convoke/os/lock_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "convoke/os/atomic_file.hpp"
#include "convoke/os/clock.hpp"

namespace convoke::os {
namespace {

namespace fs = std::filesystem;

// The time that a live process may need to remove the lock of a dead holder.
constexpr double kPatienceSeconds = 10;

// FNV-1a, 64 bits.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

// Returns none if there is no such file; an unreadable file has no text.
std::optional<std::string> text_of(const fs::path& file) try {
  return File(file, Access::kRead).text();
} catch (const Error&) {
  std::error_code unknown;
  return fs::exists(fs::symlink_status(file, unknown)) ? std::optional(std::string()) : std::nullopt;
}

// Returns the time between the modifications of two files. Both times are the file system's, so the hosts'
// clocks do not matter.
double seconds_between(const fs::path& earlier, const File& later) {
  struct stat then {
  }, now{};
  if (::stat(earlier.c_str(), &then) != 0 || ::fstat(later.descriptor(), &now) != 0) return 0;
  return static_cast<double>(now.st_mtim.tv_sec - then.st_mtim.tv_sec);
}

struct Removed {
  fs::path file;
  ~Removed() {
    std::error_code ignored;
    fs::remove(file, ignored);
  }
};

}  // namespace

LockHeld::LockHeld(const std::string& message, std::string text, double silent)
    : Error(message), holder(std::move(text)), silent_seconds(silent) {}

LockFile::LockFile(fs::path file, std::string text, Lives lives)
    : LockFile(std::move(file), std::move(text), std::move(lives), Role::kLock) {}

LockFile::LockFile(fs::path file, std::string text, Lives lives, Role role)
    : role_(role), path_(std::move(file)), text_(std::move(text)), lives_(std::move(lives)) {
  Removed mine{make_mine()};
  const Stopwatch watch;
  while (!try_to_link(mine.file)) {
    // The holder removes the temporary files of writers that were killed, and takes this for one of them.
    if (::access(mine.file.c_str(), F_OK) != 0) mine.file = make_mine();
    const std::optional<std::string> held = text_of(path_);
    if (!held) continue;  // it was removed in the meantime
    renew();
    const double silent = seconds_between(path_, file_);
    if (lives_(*held, silent)) {
      throw LockHeld(fmt::format("{}: another process holds this lock", path_.string()), *held, silent);
    }
    try {
      if (remove(*held)) taken_over_ = held;
    } catch (const LockHeld&) {  // another process is removing it
      if (watch.seconds() > kPatienceSeconds) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

// Not a function try block: at the end of a destructor's, the exception would continue.
LockFile::~LockFile() {
  try {
    if (role_ == Role::kLock) {
      remove(text_);
    } else if (text_of(path_) == text_) {
      fs::remove(path_);
    }
  } catch (const std::exception&) {  // NOLINT: it is no longer renewed, so another process will take it over
  }
}

// Returns a file with the text of this lock, which gets the name of the lock by a link.
fs::path LockFile::make_mine() {
  for (;;) {
    const fs::path mine = make_temporary(path_);
    try {
      file_ = File(mine, Access::kReadWrite);
      file_.write_at(0, std::as_bytes(std::span(text_)));
      return mine;
    } catch (const Error&) {
      std::error_code failed;
      if (fs::remove(mine, failed) || failed) throw;
    }  // the holder has removed it, see above
  }
}

// Network file systems can lose answers, so the number of links tells whether it worked.
bool LockFile::try_to_link(const fs::path& mine) const {
  if (::link(mine.c_str(), path_.c_str()) == 0) return true;
  const int error = errno;
  struct stat facts {};
  if (::stat(mine.c_str(), &facts) == 0 && facts.st_nlink == 2) return true;
  if (error == EEXIST || ::access(mine.c_str(), F_OK) != 0) return false;
  throw Error(fmt::format("{}: cannot be created: {}", path_.string(), reason_of(error)));
}

// Returns true if the lock had this text and is removed now.
bool LockFile::remove(const std::string& text) const {
  const LockFile removal(fmt::format("{}.{:016x}", path_.string(), hash_of(text)), text_, lives_,
                         Role::kRemoval);
  return text_of(path_) == text && fs::remove(path_);
}

bool LockFile::renew() const {
  ::futimens(file_.descriptor(), nullptr);
  const std::optional<std::string> now = text_of(path_);
  return !now || now->empty() || *now == text_;
}

}  // namespace convoke::os
