#include "convoke/explore/words.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::explore {
namespace {

void count_up(std::vector<std::int64_t>& counts, std::int32_t token) {
  const auto at = static_cast<std::size_t>(token);
  if (counts.size() <= at) counts.resize(at + 1, 0);
  ++counts[at];
}

void keep_best(std::vector<Word>& words, std::size_t most) {
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(std::min(most, words.size()));
  std::partial_sort(words.begin(), end, words.end(), [](const Word& a, const Word& b) {
    return a.score != b.score ? a.score > b.score : a.token < b.token;
  });
  words.erase(end, words.end());
}

}  // namespace

void TokenCounts::add(std::span<const std::int32_t> tokens, std::int32_t label) {
  for (const std::int32_t token : tokens) {
    if (token == 0) continue;
    count_up(counts_[static_cast<std::size_t>(label)], token);
    count_up(total_, token);
  }
}

std::int64_t TokenCounts::of(std::int64_t token, std::int64_t label) const {
  const std::vector<std::int64_t>& counts = counts_[static_cast<std::size_t>(label)];
  return token < static_cast<std::int64_t>(counts.size()) ? counts[static_cast<std::size_t>(token)] : 0;
}

// y_w and n: the counts of word w and of all words in the class; y'_w and n': elsewhere. The prior is
// a_w = y_w + y'_w, a = n + n':
//   delta = log((y_w + a_w) / (n + a - y_w - a_w)) - log((y'_w + a_w) / (n' + a - y'_w - a_w))
//   score = delta / sqrt(1 / (y_w + a_w) + 1 / (y'_w + a_w))
std::vector<Word> telling_words(const TokenCounts& counts, std::int32_t label, std::size_t most) {
  double here = 0;
  double all = 0;
  for (std::int64_t token = 0; token < counts.vocabulary(); ++token) {
    here += static_cast<double>(counts.of(token, label));
    all += static_cast<double>(counts.of(token));
  }
  const auto log_odds = [&](double word, double words) { return std::log(word / (words + all - word)); };
  std::vector<Word> words;
  for (std::int32_t token = 0; token < counts.vocabulary(); ++token) {
    const std::int64_t count = counts.of(token, label);
    if (count == 0) continue;
    const auto prior = static_cast<double>(counts.of(token));
    const double inside = static_cast<double>(count) + prior;
    const double outside = prior - static_cast<double>(count) + prior;
    if (inside >= here + all || outside >= all - here + all) continue;  // there is no other word
    const double delta = log_odds(inside, here) - log_odds(outside, all - here);
    const double score = delta / std::sqrt(1 / inside + 1 / outside);
    if (score > 0) words.push_back({token, count, score});
  }
  keep_best(words, most);
  return words;
}

std::vector<Word> frequent_words(const TokenCounts& counts, std::size_t most) {
  double all = 0;
  for (std::int64_t token = 0; token < counts.vocabulary(); ++token) {
    all += static_cast<double>(counts.of(token));
  }
  std::vector<Word> words;
  for (std::int32_t token = 0; token < counts.vocabulary(); ++token) {
    const std::int64_t count = counts.of(token);
    if (count > 0) words.push_back({token, count, static_cast<double>(count) / all});
  }
  keep_best(words, most);
  return words;
}

}  // namespace convoke::explore
