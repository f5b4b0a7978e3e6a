#pragma once
#include <span>
#include <string>
#include <string_view>

namespace convoke::data_prep {

/// Words that carry little meaning, in the form of words_of() ("the", "don't").
class StopWords {
 public:
  /// `name` is "none" or "english": the 174 words of Snowball's list (M. F. Porter, snowballstem.org, BSD
  /// licence), from which NLTK's list was made; it includes "no", "not" and "don't". Throws Error for another
  /// name.
  explicit StopWords(const std::string& name);

  const std::string& name() const { return name_; }
  bool contains(std::string_view word) const;

 private:
  std::string name_;
  std::span<const std::string_view> words_;  // sorted
};

}  // namespace convoke::data_prep
