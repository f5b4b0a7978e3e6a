#include "style.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/utf8.hpp"

namespace convoke::report {
namespace {

constexpr std::array kMarks{7, 5, 9, 13, 11};  // filled; each is hollow as the one before
constexpr std::array kDashes{"dt 1", "dt 2", "dt 4", "dt 5", "dt (12,3)"};
constexpr std::size_t kSolids = 3, kPaleSolids = 3;  // hatching does not show on a thin bar
constexpr int kFirstHatching = 4, kHatchings = 4;
constexpr std::size_t kTitleCharacters = 40, kNarrowTitleCharacters = 28;

}  // namespace

std::string colour(const Look& look) { return kPalette[look.number % kPalette.size()].on_light; }

int mark(const Look& look) { return kMarks[kind_of(look.number, kMarks.size())] - (look.apart ? 1 : 0); }

std::string dash(const Look& look) {
  return look.apart ? "dt (4,4)" : kDashes[kind_of(look.number, kDashes.size())];
}

std::string filling(const Look& look) {
  if (look.number < kSolids) return "solid 1.0";
  if (look.number < kSolids + kPaleSolids) return "solid 0.45";
  return fmt::format("pattern {}",
                     kFirstHatching + static_cast<int>(look.number - kSolids - kPaleSolids) % kHatchings);
}

std::string gnuplot_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

std::string axis_title(std::string_view text, bool narrow) {
  return gnuplot_quoted(shortened(one_line(text), narrow ? kNarrowTitleCharacters : kTitleCharacters));
}

}  // namespace convoke::report
