#pragma once
#include "convoke/vote/rule.hpp"

namespace convoke::vote {

/// Each member votes for its most probable class (lowest label among equals); the class with most votes is
/// elected, among equals that with the highest summed probability, then the lowest label.
void majority(const Ballots& ballots, std::int64_t members, std::span<std::int32_t> elected);

}  // namespace convoke::vote
