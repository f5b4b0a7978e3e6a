#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/vote/vote_counts.hpp"

namespace convoke::vote {

/// A voting rule: elects a label for a sample, from counts of at least one member.
using Rule = std::int32_t (*)(const VoteCounts& counts, std::int64_t sample);

/// Returns "majority" (each member votes for its most probable class, lowest label first among equals; ties:
/// highest summed probability, then lowest label), "majority_lowest" (the same, but a tie goes to the lowest
/// label at once, as scipy.stats.mode decides it) or "mean" (highest mean probability, then lowest label).
/// Throws Error listing them.
Rule find_rule(const std::string& name);

std::vector<std::string> rule_names();

/// Returns the labels that a rule elects, one for each sample.
std::vector<std::int32_t> elect(Rule rule, const VoteCounts& counts);

}  // namespace convoke::vote
