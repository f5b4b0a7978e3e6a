#pragma once
#include <string>
#include <vector>

/// Regular expressions (ECMAScript) for all tests. A file that includes <regex> takes seconds longer to
/// compile.

/// A match: the whole, and the text of each parenthesis.
using Match = std::vector<std::string>;

std::vector<Match> all_matches(const std::string& text, const std::string& pattern);

/// Returns the first match; empty if there is none.
Match first_match(const std::string& text, const std::string& pattern);

/// Returns the first parenthesis of the first match as a number; NaN if there is none.
double number_in(const std::string& text, const std::string& pattern);

/// True if the pattern matches the whole text.
bool matches_whole(const std::string& text, const std::string& pattern);

/// Replaces all matches by `format`, in which $1 stands for the first parenthesis.
std::string substituted(const std::string& text, const std::string& pattern, const std::string& format);
