#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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

}  // namespace convoke::data_prep
