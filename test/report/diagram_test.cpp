#include "convoke/report/diagram.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/os/child_process.hpp"
#include "report/diagram/folding.hpp"
#include "report/diagram/lanes.hpp"
#include "report/diagram/layout.hpp"
#include "support/bytes_of.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/skip.hpp"
#include "support/temporary_folder.hpp"
#include "support/variable.hpp"

namespace convoke::report {
namespace {

void add(Diagram& diagram, const std::string& title, std::vector<std::size_t> inputs) {
  diagram.boxes.push_back({.title = title, .lines = {"a line"}, .inputs = std::move(inputs)});
}

// A residual block: two layers, and an arrow past them.
void add_residual(Diagram& diagram, const std::string& title) {
  const std::size_t from = diagram.boxes.size() - 1;
  add(diagram, title, {from});
  add(diagram, title, {from + 1});
  add(diagram, "add", {from + 2, from});
}

// Inception's branches, one of which splits again.
void add_branches(Diagram& diagram) {
  const std::size_t from = diagram.boxes.size() - 1;
  add(diagram, "a", {from});
  add(diagram, "b1", {from});
  add(diagram, "b2", {from + 2});
  add(diagram, "c1", {from});
  add(diagram, "c2", {from + 4});
  add(diagram, "c3", {from + 4});
  add(diagram, "concat", {from + 5, from + 6});
  add(diagram, "all", {from + 1, from + 3, from + 7, from});
}

Diagram network() {
  Diagram diagram{"network", {}};
  add(diagram, "input", {});
  add(diagram, "stem", {0});
  for (int i = 0; i < 3; ++i) add_residual(diagram, "wide");
  add_branches(diagram);
  for (int i = 0; i < 2; ++i) add_residual(diagram, "narrow");
  add(diagram, "output", {diagram.boxes.size() - 1});
  return diagram;
}

bool overlap(const Rectangle& a, const Rectangle& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// True if the line is inside the box anywhere, sampled every tenth of a millimetre.
bool crosses(const std::vector<Point>& line, const Rectangle& box) {
  constexpr double kInside = 0.01, kStep = 0.1;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const Point a = line[i - 1], b = line[i];
    const double steps = std::ceil(std::hypot(b.x - a.x, b.y - a.y) / kStep) + 1;
    for (double s = 0; s <= steps; ++s) {
      const double x = a.x + s / steps * (b.x - a.x), y = a.y + s / steps * (b.y - a.y);
      if (x > box.left + kInside && x < box.right - kInside && y > box.top + kInside &&
          y < box.bottom - kInside)
        return true;
    }
  }
  return false;
}

void check_layout(const Diagram& diagram, std::size_t boxes) {
  const DiagramLayout layout = layout_of(diagram);
  REQUIRE(layout.boxes.size() == boxes);
  for (const PlacedBox& box : layout.boxes) {
    CAPTURE(diagram.boxes[box.box].title);
    CHECK((box.place.left >= 0 && box.place.top >= 0));
    CHECK((box.place.right <= layout.width && box.place.bottom <= layout.height));
    for (const PlacedBox& other : layout.boxes)
      CHECK((box.box == other.box || !overlap(box.place, other.place)));
    for (const std::vector<Point>& arrow : layout.arrows) CHECK(!crosses(arrow, box.place));
  }
  std::size_t links = 0;
  for (const PlacedBox& placed : layout.boxes) {  // every arrow ends at the top of its box
    const std::vector<std::size_t>& inputs = diagram.boxes[placed.box].inputs;
    links += inputs.size();
    const auto tips = std::count_if(layout.arrows.begin(), layout.arrows.end(), [&](const auto& arrow) {
      const Point tip = arrow.back();
      return std::abs(tip.y - placed.place.top) < 1e-6 && tip.x > placed.place.left &&
             tip.x < placed.place.right;
    });
    CHECK(tips == std::ssize(inputs));
  }
  CHECK(layout.arrows.size() == links);
}

}  // namespace

TEST_CASE("a diagram falls into sections at the boxes through which every path leads") {
  const Diagram diagram = network();
  std::vector<std::size_t> ends;
  for (const Section& section : sections_of(diagram)) ends.push_back(section.last);
  CHECK(ends == std::vector<std::size_t>{0, 1, 4, 7, 10, 18, 21, 24, 25});
}

TEST_CASE("equal blocks in a row are folded, other blocks are not") {
  std::vector<std::pair<std::size_t, std::size_t>> groups;  // the last box, and how often
  for (const Group& group : folded(network())) groups.emplace_back(group.sections.back().last, group.count);
  CHECK(groups ==
        std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {1, 1}, {4, 3}, {18, 1}, {21, 2}, {25, 1}});

  Diagram pairs{"pairs of two layers", {}};
  add(pairs, "input", {});
  for (std::size_t i = 0; i < 8; ++i) add(pairs, i % 2 == 0 ? "convolution" : "pooling", {i});
  const std::vector<Group> repeated = folded(pairs);
  REQUIRE(repeated.size() == 2);
  CHECK(repeated[1].sections.size() == 2);
  CHECK(repeated[1].count == 4);

  pairs.boxes[4].lines = {"another shape"};  // one pair differs
  CHECK(folded(pairs).size() > 2);
}

TEST_CASE("a box is below its inputs, and the longest path is in the middle") {
  const Diagram diagram = network();
  const Section branches{11, 18};
  const LaneChart chart = lanes_of(diagram, branches);
  for (std::size_t box = branches.first; box <= branches.last; ++box) {
    for (const std::size_t input : diagram.boxes[box].inputs)
      CHECK(chart.layer.at(input) < chart.layer.at(box));
  }
  CHECK(chart.layers == 4);
  for (const std::size_t box : {14, 15, 17, 18}) CHECK(chart.lane.at(box) == 0);  // c1, c2, concat, all
  for (const std::size_t box : {11, 12, 13, 16}) CHECK(chart.lane.at(box) != 0);
  CHECK(chart.lane.at(12) == chart.lane.at(13));  // b1 and b2 are one path
}

TEST_CASE("boxes do not overlap, and no arrow crosses a box") {
  check_layout(network(), 17);

  Diagram tall{"many columns", {}};
  add(tall, "input", {});
  for (int i = 0; i < 40; ++i) {
    add(tall, "layer " + std::to_string(i), {tall.boxes.size() - 1});
    add_residual(tall, "block " + std::to_string(i));
    if (i % 10 == 0) add_branches(tall);
  }
  check_layout(tall, tall.boxes.size());
  const DiagramLayout layout = layout_of(tall);
  CHECK(layout.height < 3 * layout.width);
}

TEST_CASE("a diagram is drawn as SVG, PDF and PNG; other names and a missing gnuplot are errors") {
  const TemporaryFolder folder;
  CHECK(error_of([&] { draw_diagram(network(), folder / "network.jpg"); }).find("SVG, PDF or PNG") !=
        std::string::npos);
  {
    const Variable nothing("PATH", folder.path().string());
    const auto draw = [&] { draw_diagram(network(), folder / "network.svg"); };
    CHECK(error_of(draw).find("gnuplot is not installed") != std::string::npos);
    CHECK(hint_of(draw).find("apt-get install gnuplot-nox") != std::string::npos);
  }
  if (!os::find_program("gnuplot")) return skip("no gnuplot (Debian package gnuplot-nox)");
  for (const char* name : {"n.svg", "n.pdf", "n.png"}) draw_diagram(network(), folder / name);
  const std::string svg = bytes_of(folder / "n.svg");
  CHECK(svg.find("<title>network</title>") != std::string::npos);
  for (const char* text : {">stem<", ">concat<", ">3 times<", ">output<", "font-weight=\"bold\""})
    CHECK(svg.find(text) != std::string::npos);
  CHECK(svg.find(":Bold") == std::string::npos);
  CHECK(bytes_of(folder / "n.pdf").starts_with("%PDF"));
  CHECK(bytes_of(folder / "n.png").starts_with("\x89PNG"));
}

}  // namespace convoke::report
