#pragma once
#include "convoke/vote/rule.hpp"

namespace convoke::vote {

/// The class with the highest mean probability is elected, among equals the lowest label.
void mean(const Ballots& ballots, std::int64_t members, std::span<std::int32_t> elected);

}  // namespace convoke::vote
