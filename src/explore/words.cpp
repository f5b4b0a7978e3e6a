#include "convoke/explore/words.hpp"

#include <algorithm>
#include <cmath>

namespace convoke::explore {
namespace {

double sum(const TokenCounts::Counts& counts) {
  double all = 0;
  for (const auto& [token, count] : counts) all += static_cast<double>(count);
  return all;
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
    ++counts_[static_cast<std::size_t>(label)][token];
    ++total_[token];
  }
}

// y_w and n: the counts of word w and of all words in the class; y'_w and n': elsewhere. The prior is
// a_w = y_w + y'_w, a = n + n':
//   delta = log((y_w + a_w) / (n + a - y_w - a_w)) - log((y'_w + a_w) / (n' + a - y'_w - a_w))
//   score = delta / sqrt(1 / (y_w + a_w) + 1 / (y'_w + a_w))
std::vector<Word> telling_words(const TokenCounts& counts, std::int32_t label, std::size_t most) {
  const double here = sum(counts.of(label)), all = sum(counts.of_all());
  const auto log_odds = [&](double word, double words) { return std::log(word / (words + all - word)); };
  std::vector<Word> words;
  for (const auto& [token, count] : counts.of(label)) {
    const auto prior = static_cast<double>(counts.of_all().at(token));
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
  const double all = sum(counts.of_all());
  std::vector<Word> words;
  for (const auto& [token, count] : counts.of_all())
    words.push_back({token, count, static_cast<double>(count) / all});
  keep_best(words, most);
  return words;
}

}  // namespace convoke::explore
