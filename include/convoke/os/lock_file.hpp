#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "convoke/core/error.hpp"
#include "convoke/os/file.hpp"

namespace convoke::os {

/// Thrown where somebody who lives holds a lock.
struct LockHeld : Error {
  LockHeld(const std::string& message, std::string text, double silent);
  std::string holder;     ///< what the lock says of him
  double silent_seconds;  ///< since he renewed it
};

/// A file that says who holds something, for jobs on any hosts that see the folder. It takes hard links alone
/// (link(2) gives a name to one of those who want it at once), no locks of the file system.
///
/// One whose holder is dead is taken over. Between judging him and removing his file any time may pass, in
/// which others may have done the same; so whoever removes a lock first takes a second one, named after the
/// text of the first ("lock.<hash>"), and looks again. A file with another text is never removed.
class LockFile {
 public:
  /// Whether a holder lives, by the text of his lock and the seconds since he renewed it, both by the clock
  /// of the file system.
  using Lives = std::function<bool(const std::string& text, double silent_seconds)>;

  /// Takes `file` for a holder described by `text`, which nobody else has, nor this process had before.
  /// Throws LockHeld if somebody holds it who lives, Error if the folder cannot be written.
  LockFile(std::filesystem::path file, std::string text, Lives lives);
  ~LockFile();  ///< removes the file, if it is still this one
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  /// The text of a dead holder whose lock this one has replaced.
  const std::optional<std::string>& taken_over() const { return taken_over_; }
  /// Sets the time of its last change to now; of this file only, whatever has its name now.
  void renew() const;

 private:
  enum class Role { kLock, kTurn };  // a turn: of those who want to remove a lock
  LockFile(std::filesystem::path file, std::string text, Lives lives, Role role);
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
