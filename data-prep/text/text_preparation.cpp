#include "convoke/data_prep/text/text_preparation.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "convoke/core/table.hpp"
#include "convoke/data_prep/text/words.hpp"
#include "preparation_json.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::int64_t kLongestText = 1 << 20;
constexpr const char* kUnknownWord = "<unk>";  // not a possible word: words have no punctuation

constexpr std::array kSides{Named<bool>{"pre", true}, Named<bool>{"post", false}};

bool at_front(const std::string& side, const char* what) { return find_in(kSides, side, what).value; }

std::vector<std::string> kept_words(std::string_view text, const StopWords& stop_words) {
  std::vector<std::string> kept;
  for (std::string& word : words_of(text)) {
    if (!stop_words.contains(word)) kept.push_back(without_apostrophes(std::move(word)));
  }
  return kept;
}

// Returns the smallest length that 95 % of the texts do not exceed.
std::int64_t usual_length(std::vector<std::int64_t> lengths) {
  const auto rank = static_cast<std::ptrdiff_t>((95 * lengths.size() + 99) / 100) - 1;
  std::nth_element(lengths.begin(), lengths.begin() + rank, lengths.end());
  return std::max<std::int64_t>(1, lengths[static_cast<std::size_t>(rank)]);
}

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

TextPreparation::TextPreparation(const TextOptions& options, std::string column, std::int64_t length,
                                 Vocabulary vocabulary)
    : column_(std::move(column)),
      stop_words_(options.stop_words),
      pad_front_(at_front(options.padding, "side of padding")),
      cut_front_(at_front(options.truncating, "side of truncating")),
      length_(length),
      vocabulary_(std::move(vocabulary)) {}

void TextPreparation::check(const TextOptions& options) {
  TextPreparation(options, "", options.length, Vocabulary(WordCounts{}, options.vocabulary));
  if (options.length < 0 || options.length > kLongestText) {
    throw Error(
        fmt::format("a text cannot have {} tokens", options.length),
        fmt::format("give a length of 1 to {}, or 0 for the length that 95 % of the texts do not exceed",
                    kLongestText));
  }
}

TextPreparation TextPreparation::fit(const TextOptions& options, std::string column,
                                     const std::function<bool(std::string& text)>& next_text) {
  check(options);
  const StopWords stop_words(options.stop_words);
  WordCounts counts;
  std::vector<std::int64_t> lengths;
  for (std::string text; next_text(text);) {
    std::vector<std::string> words = kept_words(text, stop_words);
    lengths.push_back(static_cast<std::int64_t>(words.size()));
    for (std::string& word : words) ++counts[std::move(word)];
  }
  if (counts.empty()) throw Error("the training texts have no words");
  const std::int64_t length = options.length > 0 ? options.length : usual_length(std::move(lengths));
  return {options, std::move(column), length, Vocabulary(counts, options.vocabulary)};
}

TextPreparation TextPreparation::from_json(const std::string& json, const std::string& where) {
  return read_preparation(json, "text", where, [&](const Json& read) {
    TextOptions options;
    options.stop_words = read.at("stop_words").get<std::string>();
    options.padding = read.at("padding").get<std::string>();
    options.truncating = read.at("truncating").get<std::string>();
    options.length = read.at("length").get<std::int64_t>();
    check(options);
    return TextPreparation(options, read.at("column").get<std::string>(), options.length,
                           {read.at("vocabulary").get<std::vector<std::string>>(), where});
  });
}

std::string TextPreparation::to_json() const {
  const auto side = [](bool front) { return front ? "pre" : "post"; };
  return Json{{"kind", "text"},
              {"column", column_},
              {"stop_words", stop_words_.name()},
              {"padding", side(pad_front_)},
              {"truncating", side(cut_front_)},
              {"length", length_},
              {"vocabulary", vocabulary_.words()}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::int64_t TextPreparation::encode(std::string_view text, std::span<std::int32_t> tokens) const {
  const std::vector<std::string> words = kept_words(text, stop_words_);
  const std::size_t kept = std::min(words.size(), tokens.size());
  const std::size_t first = cut_front_ ? words.size() - kept : 0;
  const std::size_t begin = pad_front_ ? tokens.size() - kept : 0;
  std::fill(tokens.begin(), tokens.end(), Vocabulary::kPadding);
  for (std::size_t i = 0; i < kept; ++i) tokens[begin + i] = vocabulary_.token(words[first + i]);
  return static_cast<std::int64_t>(words.size());
}

}  // namespace convoke::data_prep
