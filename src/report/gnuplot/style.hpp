#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "convoke/report/looks.hpp"

namespace convoke::report {

// How series are told apart, in colour and in grey, and how text becomes gnuplot's.

inline constexpr double kCharacterMm = 1.6, kLineMm = 3.6;  // of letters of 8 pt, about

std::string colour(const Look& look);            ///< "#004488"
int mark(const Look& look);                      ///< gnuplot's point type
std::string dash(const Look& look);              ///< "dt 1"
std::string filling(const Look& look);           ///< gnuplot's fill style: solid, pale, then hatched
inline constexpr const char* kPale = "#99bbdd";  ///< of boxes, on which a line is seen

/// Text of one line as a string of gnuplot's in which nothing has a meaning, in single quotes.
std::string gnuplot_quoted(std::string_view text);
inline constexpr std::size_t kNameCharacters = 36;  ///< of a name along an axis or in the legend
/// The title of an axis, quoted and shortened; more where the plot is narrow.
std::string axis_title(std::string_view text, bool narrow = false);

}  // namespace convoke::report
