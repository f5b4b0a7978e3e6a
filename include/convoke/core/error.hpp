#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace convoke {

/// What a user can cause: a message that names the file, node, shape or rank, and a hint that says what to do
/// next. What only we can cause is an assert.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = {})
      : std::runtime_error(message), hint_(std::move(hint)) {}

  /// What to do next; empty if the message says it all.
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string hint_;
};

}  // namespace convoke
