#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoke::vote {

/// A view of the ballots on some samples: class probabilities of every member.
struct Ballots {
  std::span<const float> probabilities;  ///< (members, samples, classes), dense
  std::int64_t members = 0;
  std::int64_t samples = 0;
  std::int64_t classes = 0;
};

/// Returns the most probable class of each member on each sample, lowest label first among equals: (members,
/// samples).
std::vector<std::int32_t> member_labels(const Ballots& ballots);

/// Returns the mean probabilities over the members, (samples, classes).
std::vector<double> mean_probabilities(const Ballots& ballots);

/// A voting rule: elects one label per sample from the first `members` members of the ballots, 1 <= members
/// <= ballots.members. `elected`: one label per sample.
using Rule = void (*)(const Ballots& ballots, std::int64_t members, std::span<std::int32_t> elected);

/// Returns "majority" (each member votes for its most probable class, lowest label first among equals; ties:
/// highest summed probability, then lowest label), "majority_lowest" (the same, but a tie goes to the lowest
/// label at once, as scipy.stats.mode decides it) or "mean" (highest mean probability, then lowest label).
/// Throws Error listing them.
Rule find_rule(const std::string& name);

std::vector<std::string> rule_names();

}  // namespace convoke::vote
