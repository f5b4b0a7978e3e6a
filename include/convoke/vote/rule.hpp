#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoke::vote {

/// The ballots on some samples: class probabilities of every member. A view.
struct Ballots {
  std::span<const float> probabilities;  ///< (members, samples, classes), dense
  std::int64_t members = 0;
  std::int64_t samples = 0;
  std::int64_t classes = 0;
};

/// A voting rule: elects one label per sample from the first `members` members of the ballots.
using Rule = void (*)(const Ballots& ballots, std::int64_t members, std::span<std::int32_t> elected);

/// "majority" (each member votes for its most probable class, lowest label first among equals; ties: highest summed
/// probability, then lowest label) or "mean" (highest mean probability, then lowest label). Throws Error listing them.
Rule find_rule(const std::string& name);

std::vector<std::string> rule_names();

}  // namespace convoke::vote
