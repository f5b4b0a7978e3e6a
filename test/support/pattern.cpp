#include "support/pattern.hpp"

#include <cmath>
#include <regex>

std::vector<Match> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<Match> matches;
  for (std::sregex_iterator it(text.begin(), text.end(), regex); it != std::sregex_iterator(); ++it)
    matches.emplace_back(it->begin(), it->end());
  return matches;
}

Match first_match(const std::string& text, const std::string& pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? Match(found.begin(), found.end()) : Match();
}

double number_in(const std::string& text, const std::string& pattern) {
  const Match found = first_match(text, pattern);
  return found.empty() ? std::nan("") : std::stod(found[1]);
}

bool matches_whole(const std::string& text, const std::string& pattern) {
  return std::regex_match(text, std::regex(pattern));
}

std::string substituted(const std::string& text, const std::string& pattern, const std::string& format) {
  return std::regex_replace(text, std::regex(pattern), format);
}
