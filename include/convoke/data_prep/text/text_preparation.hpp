#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convoke/data_prep/sources/source_options.hpp"
#include "convoke/data_prep/text/words.hpp"

namespace convoke::data_prep {

/// The frequency of each word.
using WordCounts = std::unordered_map<std::string, std::int64_t>;

/// Numbers for words. Token 0 is padding, 1 is an unknown word; the others are words.
class Vocabulary {
 public:
  static constexpr std::int32_t kPadding = 0;
  static constexpr std::int32_t kUnknown = 1;
  static constexpr std::int64_t kReserved = 2;

  /// Takes the most frequent words, at most `limit` tokens including the two reserved ones. Equally frequent
  /// words are sorted in descending byte order, as in Keras's TextVectorization. Throws Error if the limit is
  /// below 3.
  Vocabulary(const WordCounts& counts, std::int64_t limit);

  /// Words by token; the first two must be "" and "<unk>". Throws Error, beginning with `where`, if they are
  /// not, or if a word occurs twice.
  Vocabulary(std::vector<std::string> words, const std::string& where);

  std::int32_t token(const std::string& word) const;
  const std::vector<std::string>& words() const { return words_; }
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::int32_t> tokens_;
};

/// The conversion of texts to tokens: words_of() without stop words, numbered by a vocabulary, cut or padded
/// to a length.
class TextPreparation {
 public:
  /// Throws Error for invalid options, naming the valid ones.
  static void check(const TextOptions& options);

  /// Learns the vocabulary from the training texts, and the length unless the options give it: the 95th
  /// percentile of the lengths in words, which is the smallest that 95 % of the texts do not exceed.
  /// `next_text` returns the texts one by one until it returns false. `column`: the texts' column in their
  /// CSV, else empty. Throws Error for invalid options, and if the texts have no words.
  static TextPreparation fit(const TextOptions& options, std::string column,
                             const std::function<bool(std::string& text)>& next_text);

  /// Reads the text that to_json() wrote. Throws Error beginning with `where`.
  static TextPreparation from_json(const std::string& json, const std::string& where);
  std::string to_json() const;

  /// Computes the tokens of a text; `tokens` has length() elements. Returns the number of words of the text
  /// without stop words.
  std::int64_t encode(std::string_view text, std::span<std::int32_t> tokens) const;

  std::int64_t length() const { return length_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::string& column() const { return column_; }

 private:
  TextPreparation(const TextOptions& options, std::string column, std::int64_t length, Vocabulary vocabulary);

  std::string column_;
  StopWords stop_words_;
  bool pad_front_, cut_front_;
  std::int64_t length_;
  Vocabulary vocabulary_;
};

}  // namespace convoke::data_prep
