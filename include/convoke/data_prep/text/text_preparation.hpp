#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "convoke/data_prep/sources/source_options.hpp"
#include "convoke/data_prep/text/stop_words.hpp"
#include "convoke/data_prep/text/vocabulary.hpp"

namespace convoke::data_prep {

/// How texts become tokens: words_of(), without stop words, by a vocabulary, cut or filled up to a length.
class TextPreparation {
 public:
  /// Refuses options that cannot be: Error naming what is known.
  static void check(const TextOptions& options);

  /// Learns the vocabulary and, unless the options say it, the length from the training texts, which
  /// `next_text` hands over one by one until it returns false: the 95th percentile of their lengths in words,
  /// that is the least that 95 % of them do not exceed. `column`: of the CSV they come from, if they do.
  /// Throws Error for options that cannot be, and if there is no word in all texts.
  static TextPreparation fit(const TextOptions& options, std::string column,
                             const std::function<bool(std::string& text)>& next_text);

  /// As to_json() wrote it. Throws Error beginning with `where`.
  static TextPreparation from_json(const std::string& json, const std::string& where);
  std::string to_json() const;

  /// The tokens of a text, as many as `tokens` has room for, which is length(). Returns how many words the
  /// text has, stop words left out.
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
