#include "convoke/report/diagram.hpp"

#include <fmt/format.h>

#include <array>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/os/child_process.hpp"
#include "report/diagram/layout.hpp"
#include "report/paper/gnuplot.hpp"

namespace convoke::report {
namespace {

/// The filling of boxes of one kind, and their outline.
struct BoxColour {
  const char *filling, *outline;
};
constexpr std::array kBoxColours{BoxColour{"#f4f4f4", "#777777"}, BoxColour{"#dbe8f6", "#004488"},
                                 BoxColour{"#def2e2", "#228833"}, BoxColour{"#fdeedb", "#a5600a"},
                                 BoxColour{"#eee3f8", "#7d3fc4"}, BoxColour{"#fbe3e0", "#b0350b"},
                                 BoxColour{"#dff3f1", "#1a7f78"}};

std::string position(Point at) { return fmt::format("{:.3f},{:.3f}", at.x, at.y); }

std::string rectangle(const Rectangle& place, const std::string& style) {
  return fmt::format("set object rectangle from {} to {} {}\n", position({place.left, place.top}),
                     position({place.right, place.bottom}), style);
}

std::string label(const std::string& text, Point at, const char* style) {
  return fmt::format("set label {} at {} {}\n", gnuplot_quoted(text), position(at), style);
}

std::string box_commands(const DiagramBox& box, const Rectangle& place) {
  const BoxColour& colour = kBoxColours[box.colour % kBoxColours.size()];
  std::string commands =
      rectangle(place, fmt::format("front fillstyle solid border lc rgb '{}' fillcolor rgb '{}' lw 0.7",
                                   colour.outline, colour.filling));
  Point at{(place.left + place.right) / 2, place.top + kDiagramPaddingMm + kDiagramLineMm / 2};
  commands += label(box.title, at, "center front font 'sans:Bold'");
  for (const std::string& line : box.lines) {
    at.y += kDiagramLineMm;
    commands += label(line, at, "center front tc rgb '#333333'");
  }
  return commands;
}

std::string frame_commands(const Frame& frame) {
  const Rectangle& place = frame.place;
  return rectangle(place, "back fillstyle empty border lc rgb '#555555' dt (6,4) lw 0.8") +
         label(fmt::format("{} times", frame.count), {place.left + 1.5, place.top + kDiagramLineMm * 0.75},
               "left front font 'sans:Bold'");
}

// The tips are arrows; the lines before them are data.
std::string arrow_commands(const std::vector<std::vector<Point>>& arrows) {
  std::string data = "$lines << EOD\n", tips;
  for (const std::vector<Point>& arrow : arrows) {
    for (const Point& point : arrow) data += fmt::format("{:.3f} {:.3f}\n", point.x, point.y);
    data += "\n";
    tips += fmt::format(
        "set arrow from {} to {} front head filled size first 1.3,20 fixed lc rgb '#555555' lw 0.8\n",
        position(arrow[arrow.size() - 2]), position(arrow.back()));
  }
  return tips + data + "EOD\n";
}

GnuplotScript script_of(const Diagram& diagram) {
  const DiagramLayout layout = layout_of(diagram);
  GnuplotScript script{.width_mm = layout.width, .height_mm = layout.height, .points = 7};
  std::string& commands = script.commands;
  commands = "set encoding utf8\nunset border\nunset tics\nunset key\n";
  for (const char side : {'l', 'b'}) commands += fmt::format("set {}margin at screen 0\n", side);
  for (const char side : {'r', 't'}) commands += fmt::format("set {}margin at screen 1\n", side);
  commands += fmt::format("set xrange [0:{:.3f}]\nset yrange [{:.3f}:0]\n", layout.width, layout.height);
  for (const Frame& frame : layout.frames) commands += frame_commands(frame);
  for (const PlacedBox& placed : layout.boxes)
    commands += box_commands(diagram.boxes[placed.box], placed.place);
  commands += arrow_commands(layout.arrows);
  commands +=
      layout.arrows.empty() ? "plot NaN\n" : "plot $lines using 1:2 with lines lc rgb '#555555' lw 0.8\n";
  return script;
}

}  // namespace

void require_diagram(const std::filesystem::path& file) {
  if (!can_draw(file)) {
    throw Error(fmt::format("{}: a drawing is an SVG, PDF or PNG file", file.string()),
                "choose a name that ends in .svg, .pdf or .png");
  }
  if (!os::find_program(kGnuplot)) {
    throw Error(fmt::format("{}: cannot be drawn: gnuplot is not installed", file.string()),
                "run `apt-get install gnuplot-nox`, and repeat the command");
  }
}

void draw_diagram(const Diagram& diagram, const std::filesystem::path& file) {
  require_diagram(file);
  std::set<std::string> missing;
  draw(script_of(diagram), diagram.title, std::array{file}, missing);
}

}  // namespace convoke::report
