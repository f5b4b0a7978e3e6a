#include "convoke/report/diagram.hpp"

#include "convoke/os/process.hpp"
#include "report/diagram/folding.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"
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

std::string svg_of(const Diagram& diagram) {
  const TemporaryFolder folder;
  draw_diagram(diagram, folder / "drawn.svg");
  return bytes_of(folder / "drawn.svg");
}

constexpr const char* kNoGraphviz = "no Graphviz (Debian package graphviz)";

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

TEST_CASE("each box and each arrow is drawn once, equal blocks in a frame with their number") {
  if (!os::find_program("dot")) return skip(kNoGraphviz);
  // input, stem, a residual block, the branches, another block, output; an arrow for each input of a box
  const std::string svg = svg_of(network());
  CHECK(times(svg, "class=\"node\"") == 2 + 3 + 8 + 3 + 1);
  CHECK(times(svg, "class=\"edge\"") == 1 + 4 + 12 + 4 + 1);
  CHECK(times(svg, "class=\"cluster\"") == 2);
  CHECK(times(svg, ">3 times<") == 1);
  CHECK(times(svg, ">2 times<") == 1);
  CHECK(times(svg, ">add<") == 2);
  CHECK_THAT(svg, Contains("<title>network</title>"));
  CHECK_THAT(svg, Contains("font-weight=\"bold\""));
}

TEST_CASE("a tall diagram continues in further columns, and text is only text") {
  if (!os::find_program("dot")) return skip(kNoGraphviz);
  Diagram tall{"\"a\\", {}};
  add(tall, "<b> & \"q\\n\"", {});
  for (int i = 1; i < 80; ++i) add(tall, "layer " + std::to_string(i), {tall.boxes.size() - 1});
  const std::string svg = svg_of(tall);
  CHECK(times(svg, ">layer ") == 79);
  CHECK(times(svg, "class=\"node\"") == 80 + 2 * 2);  // two columns more: a circle at both ends
  CHECK(times(svg, "class=\"edge\"") == 79 + 2);
  CHECK_THAT(svg, Contains("&lt;b&gt; &amp; &quot;q\\n&quot;<"));
}

TEST_CASE("a diagram is drawn as SVG, PDF and PNG; other names and a missing Graphviz are errors") {
  const TemporaryFolder folder;
  const auto draw = [&] { draw_diagram(network(), folder / "network.svg"); };
  CHECK_THAT(error_of([&] { draw_diagram(network(), folder / "network.jpg"); }), Contains("SVG, PDF or PNG"));
  {
    const Variable nothing("PATH", folder.path().string());
    CHECK_THAT(error_of(draw), Contains("Graphviz is not installed"));
    CHECK_THAT(hint_of(draw), Contains("apt-get install graphviz"));
  }
  {
    const TemporaryFolder programs;
    { std::ofstream(programs / "dot") << "#!/bin/sh\necho 'no such format' >&2; exit 1\n"; }
    fs::permissions(programs / "dot", fs::perms::owner_all);
    const Variable broken("PATH", programs.path().string() + ":/usr/bin:/bin");
    CHECK_THAT(error_of(draw), Contains("network.svg: cannot be drawn: Graphviz says: no such format"));
    CHECK(fs::is_empty(folder.path()));
  }
  if (!os::find_program("dot")) return skip(kNoGraphviz);
  for (const char* name : {"n.pdf", "n.png"}) draw_diagram(network(), folder / name);
  CHECK(bytes_of(folder / "n.pdf").starts_with("%PDF"));
  CHECK(bytes_of(folder / "n.png").starts_with("\x89PNG"));
}

}  // namespace convoke::report
