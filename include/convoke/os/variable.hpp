#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace convoke::os {

/// An environment variable; nothing if it is not set or is empty.
std::optional<std::string> variable(const std::string& name);

/// The whole number that an environment variable begins with; nothing if it is not set or holds none.
std::optional<std::int64_t> number_in(const std::string& name);

/// Sets an environment variable of this process unless it is set: the user's choice counts. Call it before
/// other threads are started.
void set_default(const std::string& name, const std::string& value);

}  // namespace convoke::os
