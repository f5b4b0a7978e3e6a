#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoke::data_prep {

/// Returns the words of a text, in order: the text between blanks, in lower case, without punctuation. As in
/// Keras's "lower_and_strip_punctuation", punctuation is deleted and is not a blank, so that "well-kept"
/// becomes "wellkept". In addition:
/// * `<br>`, `<br/>` and `<br />` are blanks (as in the published systems on IMDb's reviews);
/// * lower case, blanks and punctuation follow Unicode, not only ASCII; symbols such as emoji stay;
/// * combining accents are joined to their letters (NFC);
/// * apostrophes within a word become "'" and stay, so that lists of stop words match: "don't". See
///   without_apostrophes().
/// Bytes that are not UTF-8, and U+FFFD that replaced such bytes, are left out.
std::vector<std::string> words_of(std::string_view text);

/// Returns "dont" for "don't".
std::string without_apostrophes(std::string word);

/// Words that carry little meaning, in the form of words_of() ("the", "don't").
class StopWords {
 public:
  /// `name` is "none", "english": the 174 words of Snowball's list (M. F. Porter, snowballstem.org, BSD
  /// license), or "nltk": the 179 of NLTK, which was made from it, with parts of words ("don", "t"). Both
  /// have "no", "not" and "don't". Throws Error for another name.
  explicit StopWords(const std::string& name);

  const std::string& name() const { return name_; }
  bool contains(std::string_view word) const;

 private:
  std::string name_;
  std::span<const std::string_view> words_;  // sorted
};

}  // namespace convoke::data_prep
