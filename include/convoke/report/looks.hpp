#pragma once
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/chart.hpp"

namespace convoke::report {

/// How a series is told from the others of a figure.
struct Look {
  std::size_t number = 0;  ///< its colour, mark, dash and filling
  bool apart =
      false;  ///< hollow and dashed: in the colour of another, whose figures it is not to be taken for

  bool operator==(const Look&) const = default;
};

/// The looks of all figures that stand together: a series, known by its name, looks the same in all of them,
/// and no two series of one figure look alike.
class Looks {
 public:
  explicit Looks(std::span<const Chart> charts);

  /// Of each of Chart::names, in their order.
  std::vector<Look> of(const Chart& chart) const;
  /// With the palette, for charts.js; nothing in it ends a script.
  std::string json() const;

 private:
  std::map<std::string, Look, std::less<>> looks_;
};

/// A colour on white, on which pages and papers are light, and on dark pages.
struct Tone {
  const char *on_light, *on_dark;
};

/// Each at least 3:1 on what it is drawn on (WCAG 2.1, 1.4.11). The first six remain distinct with any colour
/// blindness.
inline constexpr std::array kPalette{Tone{"#004488", "#5b9be6"}, Tone{"#d43d0e", "#f2602f"},
                                     Tone{"#7d3fc4", "#cfe3b0"}, Tone{"#1a8f86", "#a56bff"},
                                     Tone{"#63302c", "#19d3d8"}, Tone{"#8b80e8", "#c2606a"},
                                     Tone{"#c2557a", "#ffc533"}, Tone{"#8a7a00", "#ff7ac2"},
                                     Tone{"#228833", "#4fb35a"}, Tone{"#777777", "#9aa4af"}};

/// Which of so many marks or dashes goes with a number: with each turn of the palette another one, so that no
/// two numbers below kinds x colours have both in common.
constexpr std::size_t kind_of(std::size_t number, std::size_t kinds) {
  return (number + number / kPalette.size()) % kinds;
}

}  // namespace convoke::report
