#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::vote {

/// How often the members of an ensemble differ: for each pair the samples on which their labels are not the
/// same (Skalak's disagreement; Kuncheva and Whitaker, Machine Learning 51, 2003). Counts, so additive: the
/// sum over parts of the samples, also over ranks, is that of the whole.
class Disagreement {
 public:
  /// `members` >= 1.
  explicit Disagreement(std::int64_t members);

  /// `labels`: (members, samples), as member_labels() gives them.
  void add(std::span<const std::int32_t> labels);

  std::int64_t members() const { return members_; }
  std::int64_t samples() const { return counts_.back(); }
  /// Fraction of the samples on which members `a` and `b` differ; 0 without samples.
  double between(std::int64_t a, std::int64_t b) const;
  /// Mean over all pairs of the first `members` members; 0 for one member.
  double mean(std::int64_t members) const;
  double mean() const { return mean(members_); }

  /// One count per pair, then the number of samples; to sum over ranks in place.
  std::span<std::int64_t> counts() { return counts_; }
  std::span<const std::int64_t> counts() const { return counts_; }

 private:
  std::int64_t members_;
  std::vector<std::int64_t>
      counts_;  // of pairs (a, b), a < b, ordered by b and then a: a prefix of members is a prefix
};

}  // namespace convoke::vote
