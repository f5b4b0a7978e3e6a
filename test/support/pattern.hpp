#pragma once
#include <cmath>

#include "convoke/core/pattern.hpp"

using convoke::all_matches, convoke::first_match, convoke::Match, convoke::substituted, convoke::whole_match;

/// Returns the first parenthesis of the first match as a number; NaN if there is none.
inline double number_in(const std::string& text, const convoke::Pattern& pattern) {
  const Match found = first_match(text, pattern);
  return found.empty() ? std::nan("") : std::stod(found[1]);
}
