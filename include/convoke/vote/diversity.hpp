#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::vote {

/// How often the members of an ensemble differ: for each pair, the samples with different labels (Skalak's
/// disagreement; Kuncheva and Whitaker, Machine Learning 51, 2003). Counts are additive: the sum over parts
/// of the samples, also over ranks, equals that of the whole.
class Disagreement {
 public:
  /// `members` >= 1.
  explicit Disagreement(std::int64_t members);

  /// `labels`: (members, samples), from member_labels().
  void add(std::span<const std::int32_t> labels);

  std::int64_t members() const { return members_; }
  std::int64_t samples() const { return counts_.back(); }
  /// Returns the fraction of the samples on which members `a` and `b` differ; 0 without samples.
  double between(std::int64_t a, std::int64_t b) const;
  /// Returns the mean over all pairs of the first `members` members; 0 for one member.
  double mean(std::int64_t members) const;
  double mean() const { return mean(members_); }

  /// One count per pair, then the number of samples; ranks may sum them in place.
  std::span<std::int64_t> counts() { return counts_; }
  std::span<const std::int64_t> counts() const { return counts_; }

 private:
  std::int64_t members_;
  std::vector<std::int64_t>
      counts_;  // of pairs (a, b), a < b, ordered by b and then a: the pairs of the first members come first
};

}  // namespace convoke::vote
