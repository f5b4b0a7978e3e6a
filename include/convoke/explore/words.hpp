#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::explore {

/// The frequency of each token in each class.
class TokenCounts {
 public:
  explicit TokenCounts(std::int64_t classes) : counts_(static_cast<std::size_t>(classes)) {}

  /// Adds one sample; token 0 is padding and does not count.
  void add(std::span<const std::int32_t> tokens, std::int32_t label);

  std::int64_t classes() const { return static_cast<std::int64_t>(counts_.size()); }
  /// Returns the largest token seen + 1.
  std::int64_t vocabulary() const { return static_cast<std::int64_t>(total_.size()); }
  std::int64_t of(std::int64_t token, std::int64_t label) const;
  std::int64_t of(std::int64_t token) const { return total_[static_cast<std::size_t>(token)]; }

 private:
  std::vector<std::vector<std::int64_t>> counts_;  // of each class, up to its largest token
  std::vector<std::int64_t> total_;
};

struct Word {
  std::int32_t token;
  std::int64_t count;  ///< in the class, or in all
  double score;        ///< number of standard deviations by which it is more frequent here than elsewhere
};

/// Returns the tokens that distinguish a class, best first, at most `most` with a positive score: log-odds
/// against the other classes with all texts as the prior, in standard deviations. B. Monroe, M. Colaresi, K.
/// Quinn, "Fightin' words", Political Analysis 16, 2008.
std::vector<Word> telling_words(const TokenCounts& counts, std::int32_t label, std::size_t most);

/// Returns the most frequent tokens of all classes; the score is their share of all tokens.
std::vector<Word> frequent_words(const TokenCounts& counts, std::size_t most);

}  // namespace convoke::explore
