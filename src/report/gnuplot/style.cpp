#include "style.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/utf8.hpp"

namespace convoke::report {
namespace {

// High contrast, then of the bright and the muted scheme.
constexpr std::array kColours{"#004488", "#ddaa33", "#bb5566", "#228833", "#66ccee",
                              "#aa3377", "#222222", "#ee7733", "#999933", "#88ccee"};
constexpr std::array kMarks{7, 5, 9, 13, 6, 4, 8, 12, 11, 2};  // filled circle, square, triangle, ...
constexpr int kDashes = 5;
constexpr std::size_t kSolids = 3, kPaleSolids = 3;  // hatching does not show on a thin bar
constexpr int kFirstHatching = 4, kHatchings = 4;
constexpr std::size_t kNameCharacters = 36, kTitleCharacters = 40, kNarrowTitleCharacters = 28;

}  // namespace

std::string colour(std::size_t series) { return kColours[series % kColours.size()]; }

std::string colour(std::size_t series, std::string_view name) {
  if (name == "red") return "#bb5566";
  if (name == "green") return "#228833";
  if (name == "blue") return "#004488";
  if (name == "grey") return "#777777";
  return colour(series);
}

int mark(std::size_t series) { return kMarks[series % kMarks.size()]; }

int dash(std::size_t series) { return static_cast<int>(series) % kDashes + 1; }

std::string filling(std::size_t series) {
  if (series < kSolids) return "solid 1.0";
  if (series < kSolids + kPaleSolids) return "solid 0.45";
  return fmt::format("pattern {}",
                     kFirstHatching + static_cast<int>(series - kSolids - kPaleSolids) % kHatchings);
}

std::string gnuplot_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

std::string name_of(std::string_view text) { return shortened(one_line(text), kNameCharacters); }

std::string axis_title(std::string_view text, bool narrow) {
  return gnuplot_quoted(shortened(one_line(text), narrow ? kNarrowTitleCharacters : kTitleCharacters));
}

}  // namespace convoke::report
