#pragma once
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/chart.hpp"

namespace convoke::report {

/// A color for a white background (light pages, papers), and one for dark pages.
struct Tone {
  const char *on_light, *on_dark;
};

/// Each has a contrast of at least 3:1 on its background (WCAG 2.1, 1.4.11). The first six are distinct for
/// any kind of color blindness.
inline constexpr std::array kPalette{Tone{"#004488", "#5b9be6"}, Tone{"#d43d0e", "#f2602f"},
                                     Tone{"#7d3fc4", "#cfe3b0"}, Tone{"#1a8f86", "#a56bff"},
                                     Tone{"#63302c", "#19d3d8"}, Tone{"#8b80e8", "#c2606a"},
                                     Tone{"#c2557a", "#ffc533"}, Tone{"#8a7a00", "#ff7ac2"},
                                     Tone{"#228833", "#4fb35a"}, Tone{"#777777", "#9aa4af"}};

/// A filled mark: its names in Chart.js and gnuplot. gnuplot's hollow mark has the number before.
struct Mark {
  const char* chart_js;
  int chart_js_rotation;
  int gnuplot;
};

/// The style that distinguishes a series from the others of a chart.
struct SeriesStyle {
  std::size_t number = 0;  ///< selects color, mark, dash and filling
  /// Hollow and dashed, in the color of the related series.
  bool apart = false;

  const Tone& tone() const;
  const Mark& mark() const;
  std::vector<int> dash() const;  ///< lengths of lines and gaps; empty: a solid line
  int filling() const;  ///< filling of bars: 0 solid, 1 pale, 2 to 5 hatched in one of four directions

  bool operator==(const SeriesStyle&) const = default;
};

/// The styles of all charts of a page or paper: a series, identified by its name, has the same style in all
/// of them, and no two series of one chart have the same style.
class SeriesStyles {
 public:
  explicit SeriesStyles(std::span<const Chart> charts);

  /// Returns the styles of Chart::names, in their order.
  std::vector<SeriesStyle> of(const Chart& chart) const;

 private:
  std::map<std::string, SeriesStyle, std::less<>> styles_;
};

}  // namespace convoke::report
