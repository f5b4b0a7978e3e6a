#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoke::vote {

/// `predictions` of a member: class probabilities for some samples, (samples, classes), dense. Returns the
/// most probable class for each sample, the lowest label first among equals.
std::vector<std::int32_t> labels_in(std::span<const float> predictions, std::int64_t classes);

/// The votes and summed probabilities for some samples, added up member by member. Its size does not depend
/// on the number of members.
class VoteCounts {
 public:
  VoteCounts(std::int64_t samples, std::int64_t classes);

  /// Adds the predictions of one more member, (samples, classes). Returns their labels, as labels_in().
  std::vector<std::int32_t> add(std::span<const float> predictions);

  std::int64_t members() const { return members_; }
  std::int64_t samples() const { return samples_; }
  std::int64_t classes() const { return classes_; }
  /// (classes): the members whose most probable class it is.
  std::span<const std::int32_t> votes(std::int64_t sample) const { return row(votes_, sample); }
  /// (classes): the sums over the members, in double. Sums of few members' floats are then exact, so that
  /// exact ties remain ties.
  std::span<const double> probabilities(std::int64_t sample) const { return row(sums_, sample); }
  /// Returns the mean probabilities over the members, (samples, classes).
  std::vector<double> mean_probabilities() const;

 private:
  template <class T>
  std::span<const T> row(const std::vector<T>& values, std::int64_t sample) const {
    const auto size = static_cast<std::size_t>(classes_);
    return std::span(values).subspan(static_cast<std::size_t>(sample) * size, size);
  }

  std::int64_t members_ = 0, samples_, classes_;
  std::vector<std::int32_t> votes_;  // (samples, classes)
  std::vector<double> sums_;         // (samples, classes)
};

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
