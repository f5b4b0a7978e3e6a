#pragma once
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace convoke {

/// A fault that a user can cause: a message that names the file, node, shape or rank, and a hint that says
/// what to do next. Use assert for faults that only our code can cause, and ensure() if memory is at stake.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = {})
      : std::runtime_error(message), hint_(std::move(hint)) {}

  /// Tells the user the next step; empty if the message is sufficient.
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string hint_;
};

/// Checks a condition in every build, unlike an assert: without it, memory could be read or written beyond
/// its end. Throws Error naming `what` and the source line.
inline void ensure(bool holds, const char* what,
                   const std::source_location& where = std::source_location::current()) {
  if (holds) [[likely]]
    return;
  const std::string_view file = where.file_name();
  throw Error("internal error, a check failed: " + std::string(what) + " (" +
                  std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(where.line()) + ")",
              "this is a bug in Convoke: report it with the command and its input");
}

}  // namespace convoke
