#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace convoke::report {

// How series are told apart, in colour and in grey, and how text becomes gnuplot's.

inline constexpr double kCharacterMm = 1.6, kLineMm = 3.6;  // of letters of 8 pt, about

/// "#004488": colours that remain distinct with any colour blindness (Tol, "Colour schemes",
/// SRON/EPS/TN/09-002, issue 3.2, 2021); the first three differ in grey, too.
std::string colour(std::size_t series);
/// Channels of pictures ("red", ...) have the colour that they are.
std::string colour(std::size_t series, std::string_view name);
int mark(std::size_t series);                    ///< gnuplot's point type
int dash(std::size_t series);                    ///< gnuplot's dash type
std::string filling(std::size_t series);         ///< gnuplot's fill style: solid, pale, then hatched
inline constexpr const char* kPale = "#99bbdd";  ///< of boxes, on which a line is seen

/// Text of one line as a string of gnuplot's in which nothing has a meaning, in single quotes.
std::string gnuplot_quoted(std::string_view text);
/// Any text as a name along an axis or in the legend: one line, shortened.
std::string name_of(std::string_view text);
/// The title of an axis, quoted and shortened; more where the plot is narrow.
std::string axis_title(std::string_view text, bool narrow = false);

}  // namespace convoke::report
