#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace convoke::explore {

/// The frequency of each token in each class.
class TokenCounts {
 public:
  using Counts = std::unordered_map<std::int32_t, std::int64_t>;  ///< of the tokens that occur

  explicit TokenCounts(std::int64_t classes) : counts_(static_cast<std::size_t>(classes)) {}

  /// Adds one sample; token 0 is padding and does not count.
  void add(std::span<const std::int32_t> tokens, std::int32_t label);

  std::int64_t classes() const { return static_cast<std::int64_t>(counts_.size()); }
  const Counts& of(std::int32_t label) const { return counts_[static_cast<std::size_t>(label)]; }
  const Counts& of_all() const { return total_; }

 private:
  std::vector<Counts> counts_;  // of each class
  Counts total_;
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
