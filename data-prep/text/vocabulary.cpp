#include "convoke/data_prep/text/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"

namespace convoke::data_prep {
namespace {

constexpr const char* kUnknownWord = "<unk>";  // not a possible word: words have no punctuation

}  // namespace

Vocabulary::Vocabulary(const WordCounts& counts, std::int64_t limit) : words_{"", kUnknownWord} {
  if (limit <= kReserved) {
    throw Error(fmt::format("a vocabulary of {} tokens has no room for a word", limit),
                "tokens 0 and 1 are padding and the unknown word: use at least 3");
  }
  std::vector<const WordCounts::value_type*> ranked;
  ranked.reserve(counts.size());
  for (const auto& entry : counts) ranked.push_back(&entry);
  const std::size_t kept = std::min(ranked.size(), static_cast<std::size_t>(limit - kReserved));
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(kept), ranked.end(),
                    [](const auto* a, const auto* b) {
                      return a->second != b->second ? a->second > b->second : a->first > b->first;
                    });
  for (std::size_t i = 0; i < kept; ++i) {
    tokens_.emplace(ranked[i]->first, static_cast<std::int32_t>(words_.size()));
    words_.push_back(ranked[i]->first);
  }
}

Vocabulary::Vocabulary(std::vector<std::string> words, const std::string& where) : words_(std::move(words)) {
  if (size() < kReserved || !words_[kPadding].empty() || words_[kUnknown] != kUnknownWord) {
    throw Error(fmt::format("{}: the vocabulary must begin with \"\" and \"{}\"", where, kUnknownWord));
  }
  for (std::size_t i = kReserved; i < words_.size(); ++i) {
    if (!tokens_.emplace(words_[i], static_cast<std::int32_t>(i)).second) {
      throw Error(fmt::format("{}: the word \"{}\" is in the vocabulary twice", where, words_[i]));
    }
  }
}

std::int32_t Vocabulary::token(const std::string& word) const {
  const auto it = tokens_.find(word);
  return it == tokens_.end() ? kUnknown : it->second;
}

}  // namespace convoke::data_prep
