#pragma once
#include <memory>
#include <string>
#include <vector>

namespace convoke {

/// A regular expression (ECMAScript). <regex> takes seconds to compile in each unit that includes it, so one
/// does.
class Pattern {
 public:
  /// Throws std::runtime_error with the reason if `text` is not a regular expression.
  Pattern(const char* text) : Pattern(std::string(text)) {}
  Pattern(const std::string& text);

  struct Compiled;
  const Compiled& compiled() const { return *compiled_; }

 private:
  std::shared_ptr<const Compiled> compiled_;
};

/// A match: the whole, and the text of each parenthesis, "" if it took no part; without elements if there is
/// no match.
using Match = std::vector<std::string>;

/// Return the match of a whole text, the first match in it, and all. Throw std::runtime_error if the
/// expression is too complex for the text.
Match whole_match(const std::string& text, const Pattern& pattern);
Match first_match(const std::string& text, const Pattern& pattern);
std::vector<Match> all_matches(const std::string& text, const Pattern& pattern);

/// Replaces all matches by `format`, in which $1 stands for the first parenthesis.
std::string substituted(const std::string& text, const Pattern& pattern, const std::string& format);

}  // namespace convoke
