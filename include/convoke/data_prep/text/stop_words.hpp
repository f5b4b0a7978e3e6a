#pragma once
#include <span>
#include <string>
#include <string_view>

namespace convoke::data_prep {

/// Words that say little by themselves, as words_of() gives them ("the", "don't").
class StopWords {
 public:
  /// "none", or "english": the 174 words of Snowball's list (M. F. Porter, snowballstem.org, BSD licence),
  /// from which NLTK's was made; "no", "not" and "don't" are among them. Throws Error for another name.
  explicit StopWords(const std::string& name);

  const std::string& name() const { return name_; }
  bool contains(std::string_view word) const;

 private:
  std::string name_;
  std::span<const std::string_view> words_;  // sorted
};

}  // namespace convoke::data_prep
