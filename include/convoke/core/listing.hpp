#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace convoke {

/// Returns "a, b and 998 more": at most `most` names, so that a message stays readable.
std::string listing(std::span<const std::string> names, std::size_t most = 20);

}  // namespace convoke
