#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/vote/ballots.hpp"

namespace convoke::vote {

/// A voting rule: elects one label per sample from the first `members` members of the ballots, 1 <= members
/// <= ballots.members. `elected`: one label per sample.
using Rule = void (*)(const Ballots& ballots, std::int64_t members, std::span<std::int32_t> elected);

/// "majority" (each member votes for its most probable class, lowest label first among equals; ties: highest
/// summed probability, then lowest label) or "mean" (highest mean probability, then lowest label). Throws
/// Error listing them.
Rule find_rule(const std::string& name);

std::vector<std::string> rule_names();

}  // namespace convoke::vote
