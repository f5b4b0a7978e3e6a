#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "convoke/core/error.hpp"
#include "convoke/os/file.hpp"

namespace convoke::os {

/// Thrown if a live process holds a lock.
struct LockHeld : Error {
  LockHeld(const std::string& message, std::string text, double silent);
  std::string holder;     ///< text of the lock, which describes the holder
  double silent_seconds;  ///< time since the holder renewed it
};

/// A file that names the holder of a resource, for jobs on all hosts that see the folder. It needs only hard
/// links (link(2) gives the name to one of several processes), not file system locks.
///
/// If the holder is dead, another process takes the lock over. Between its check of the holder and the
/// removal of the file any time may pass, in which others may do the same. Therefore a process that wants to
/// remove a lock first takes a second one, named after the text of the first ("lock.<hash>"), and checks
/// again. It never removes a file with another text.
class LockFile {
 public:
  /// Returns true if the holder is alive, given the text of its lock and the seconds since it renewed it,
  /// measured by the clock of the file system.
  using Lives = std::function<bool(const std::string& text, double silent_seconds)>;

  /// Takes `file` for a holder described by `text`, which must be unique, also within this process. Throws
  /// LockHeld if a live process holds it, Error if the folder cannot be written.
  LockFile(std::filesystem::path file, std::string text, Lives lives);
  ~LockFile();  ///< removes the file, if it is still this one
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  /// The text of the dead holder whose lock this one replaced.
  const std::optional<std::string>& taken_over() const { return taken_over_; }
  /// Sets the modification time of this file to now, even if another file has its name. Returns false if that
  /// is the lock of another holder, who took this one for dead.
  bool renew() const;

 private:
  enum class Role { kLock, kRemoval };  // kRemoval: permission to remove a lock
  LockFile(std::filesystem::path file, std::string text, Lives lives, Role role);
  std::filesystem::path make_mine();
  bool try_to_link(const std::filesystem::path& mine) const;
  bool remove(const std::string& text) const;

  Role role_;
  std::filesystem::path path_;
  std::string text_;
  Lives lives_;
  File file_;
  std::optional<std::string> taken_over_;
};

}  // namespace convoke::os
