#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::vote {

/// How differently the members of an ensemble predict, pair by pair: their disagreement (Skalak, 1996) and
/// their Q statistic (Yule, 1900), as measures of diversity in Kuncheva and Whitaker, "Measures of diversity
/// in classifier ensembles", Machine Learning 51, 2003. Counts are additive: the sum over parts of the
/// samples, also over ranks, equals that of the whole.
class Diversity {
 public:
  /// `members` >= 1.
  explicit Diversity(std::int64_t members);

  /// `labels`: (members, samples), as labels_in() returns them; `truth`: (samples).
  void add(std::span<const std::int32_t> labels, std::span<const std::int32_t> truth);

  std::int64_t members() const { return members_; }
  std::int64_t samples() const { return counts_.back(); }

  /// Returns the fraction of the samples on which members `a` and `b` predict different labels, even if both
  /// are wrong; 0 without samples.
  double disagreement(std::int64_t a, std::int64_t b) const;
  /// Returns the mean over all pairs; 0 for one member.
  double disagreement() const;

  /// Returns Yule's Q of members `a` and `b`, in [-1, 1]: 1 if one errs only where the other does, 0 if they
  /// err independently, negative if they err on different samples. NaN where undefined (0 / 0), as for
  /// members that are never both wrong and one of which is never wrong alone. 1 for a member and itself.
  double q_statistic(std::int64_t a, std::int64_t b) const;
  /// Returns the mean over the pairs for which Q is defined; NaN without such a pair.
  double q_statistic() const;

  /// The counts of each pair, then the number of samples; ranks may sum them in place.
  std::span<std::int64_t> counts() { return counts_; }
  std::span<const std::int64_t> counts() const { return counts_; }

 private:
  static constexpr std::size_t kCounts = 4;
  using Pair = std::array<std::int64_t, kCounts>;  // samples: different labels, both right, only a, only b
  Pair pair(std::int64_t a, std::int64_t b) const;

  std::int64_t members_;
  std::vector<std::int64_t> counts_;  // kCounts of each pair (a, b), a < b, ordered by b and then a
};

}  // namespace convoke::vote
