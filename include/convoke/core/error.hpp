#pragma once
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "convoke/core/error.hpp"

namespace convoke {

/// What a user can cause: a message that names the file, node, shape or rank, and a hint that says what to do
/// next. An assert is for what only our own code can cause, and ensure() where memory is at stake.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = {})
      : std::runtime_error(message), hint_(std::move(hint)) {}

  /// What to do next; empty if the message says it all.
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string hint_;
};

/// Checked in every build, unlike an assert: what must hold so that no memory is read or written beyond its
/// end. Throws Error, which names `what` and the line of the source.
inline void ensure(bool holds, const char* what,
                   const std::source_location& where = std::source_location::current()) {
  if (holds) [[likely]]
    return;
  const std::string_view file = where.file_name();
  throw Error("internal error, a check failed: " + std::string(what) + " (" +
                  std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(where.line()) + ")",
              "this is a fault of Convoke: report it with the command and its input");
}

}  // namespace convoke
