#include "convoke/core/pattern.hpp"

#include <regex>

namespace convoke {

struct Pattern::Compiled {
  std::regex regex;
};

Pattern::Pattern(const std::string& text)
    : compiled_(
          std::make_shared<const Compiled>(std::regex(text, std::regex::ECMAScript | std::regex::optimize))) {
}

Match whole_match(const std::string& text, const Pattern& pattern) {
  std::smatch found;
  return std::regex_match(text, found, pattern.compiled().regex) ? Match(found.begin(), found.end())
                                                                 : Match();
}

Match first_match(const std::string& text, const Pattern& pattern) {
  std::smatch found;
  return std::regex_search(text, found, pattern.compiled().regex) ? Match(found.begin(), found.end())
                                                                  : Match();
}

std::vector<Match> all_matches(const std::string& text, const Pattern& pattern) {
  std::vector<Match> matches;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern.compiled().regex);
       it != std::sregex_iterator(); ++it)
    matches.emplace_back(it->begin(), it->end());
  return matches;
}

std::string substituted(const std::string& text, const Pattern& pattern, const std::string& format) {
  return std::regex_replace(text, pattern.compiled().regex, format);
}

}  // namespace convoke
