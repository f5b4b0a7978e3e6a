#include "convoke/report/diagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/process.hpp"
#include "report/diagram/folding.hpp"
#include "report/page/html.hpp"

namespace convoke::report {
namespace {

constexpr const char* kDot = "dot";  // Graphviz' program for layers from top to bottom

/// The filling of boxes of one kind, and their outline.
struct BoxColor {
  const char *filling, *outline;
};
constexpr std::array kBoxColors{BoxColor{"#f4f4f4", "#777777"}, BoxColor{"#dbe8f6", "#004488"},
                                BoxColor{"#def2e2", "#228833"}, BoxColor{"#fdeedb", "#a5600a"},
                                BoxColor{"#eee3f8", "#7d3fc4"}, BoxColor{"#fbe3e0", "#b0350b"},
                                BoxColor{"#dff3f1", "#1a7f78"}};

std::string node_text(std::size_t index, const DiagramBox& box) {
  const BoxColor& color = kBoxColors[box.color % kBoxColors.size()];
  std::string label = fmt::format("<B>{}</B>", escape(box.title));
  for (const std::string& line : box.lines)
    label += fmt::format("<BR/><FONT COLOR=\"#333333\">{}</FONT>", escape(line));
  return fmt::format("n{} [label=<{}> fillcolor=\"{}\" color=\"{}\"]\n", index, label, color.filling,
                     color.outline);
}

// Returns the layer of each box of a section, 0 at its inputs: the length of the longest path to it, in
// boxes.
std::vector<std::size_t> layers_of(const Diagram& diagram, const Section& section) {
  std::vector<std::size_t> layers;
  for (std::size_t box = section.first; box <= section.last; ++box) {
    std::size_t layer = 0;
    for (const std::size_t input : diagram.boxes[box].inputs) {
      if (input >= section.first) layer = std::max(layer, layers[input - section.first] + 1);
    }
    layers.push_back(layer);
  }
  return layers;
}

// Returns the boxes of a longest path to the end of a section. They are drawn below one another.
std::set<std::size_t> main_path(const Diagram& diagram, const Section& section) {
  const std::vector<std::size_t> layers = layers_of(diagram, section);
  std::set<std::size_t> path{section.last};
  for (std::size_t box = section.last; layers[box - section.first] > 0; path.insert(box)) {
    box = *std::ranges::find_if(diagram.boxes[box].inputs, [&](std::size_t input) {
      return input >= section.first && layers[input - section.first] + 1 == layers[box - section.first];
    });
  }
  return path;
}

double height_of(const Diagram& diagram, const Group& group) {
  double boxes = 0;
  for (const Section& section : group.sections)
    boxes += static_cast<double>(std::ranges::max(layers_of(diagram, section)) + 1);
  return boxes;
}

/// Writes the boxes and arrows of folded groups in dot's language.
class DotText {
 public:
  explicit DotText(const Diagram& diagram) : diagram_(diagram) {}

  void add(const Group& group) {
    const bool framed = group.count > 1;
    if (framed) {
      text_ += fmt::format(
          "subgraph cluster_{} {{\nlabel=<<B>{} times</B>> labeljust=l style=dashed color=\"#555555\"\n",
          group.sections.front().first, group.count);
    }
    for (const Section& section : group.sections) add(section);
    if (framed) text_ += "}\n";
  }

  // The arrow to a further column ends in a circle with a number, and continues at the same one above it.
  void begin_column() {
    ++columns_;
    for (const char* const side : {"end", "begin"})
      text_ += fmt::format("{0}{1} [label={1} shape=circle fillcolor=white margin=0 width=0.16]\n", side,
                           columns_);
    arrows_ += fmt::format("{} -> end{} [weight=20]\n", from_, columns_);
    from_ = fmt::format("begin{}", columns_);
    heads_ += " -> " + from_;
  }

  std::string take() {
    std::string name = diagram_.title;  // the picture's name in browsers and screen readers
    std::ranges::replace_if(
        name, [](char c) { return c == '"' || c == '\\'; }, '\'');
    return fmt::format(
        "digraph \"{1}\" {{\n"
        "graph [bgcolor=white nodesep=0.18 ranksep=0.2 fontsize=7 fontname=\"{0}\"]\n"
        "node [shape=box style=filled penwidth=0.7 fontsize=7 margin=\"0.1,0.05\" width=1 height=0 "
        "fontname=\"{0}\"]\n"
        "edge [arrowsize=0.45 penwidth=0.8 color=\"#555555\"]\n"
        "{2}{3}{{ rank=same edge [style=invis] n0{4} }}\n}}\n",
        "Helvetica,Arial,sans-serif", name, text_, arrows_, heads_);
  }

 private:
  void add(const Section& section) {
    const std::set<std::size_t> middle = main_path(diagram_, section);
    for (std::size_t box = section.first; box <= section.last; ++box) {
      text_ += node_text(box, diagram_.boxes[box]);
      for (const std::size_t input : diagram_.boxes[box].inputs) {
        const bool before = input < section.first;  // which is drawn once, if its group occurs several times
        const bool straight =
            middle.contains(box) && (before ? box == *middle.begin() : middle.contains(input));
        arrows_ += fmt::format("{} -> n{}{}\n", before ? from_ : fmt::format("n{}", input), box,
                               straight ? " [weight=20]" : "");
      }
    }
    from_ = fmt::format("n{}", section.last);
  }

  const Diagram& diagram_;
  std::string text_, arrows_, heads_, from_;  // from_: the node that leads to the next section
  int columns_ = 0;
};

std::string dot_text(const Diagram& diagram) {
  constexpr double kOneColumn = 28;
  const std::vector<Group> groups = folded(diagram);
  double all = 0;
  for (const Group& group : groups) all += height_of(diagram, group);
  const double columns = std::ceil(all / kOneColumn);
  DotText text(diagram);
  double height = 0, begun = 1;
  for (const Group& group : groups) {
    const double next = height_of(diagram, group);
    if (begun < columns && height > 0 && height + next / 2 > all / columns)
      text.begin_column(), height = 0, ++begun;
    text.add(group);
    height += next;
  }
  return text.take();
}

}  // namespace

void require_diagram(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 3> kEndings{".svg", ".pdf", ".png"};
  if (std::ranges::find(kEndings, file.extension().string()) == kEndings.end()) {
    throw Error(fmt::format("{}: a drawing is an SVG, PDF or PNG file", file.string()),
                "choose a name that ends in .svg, .pdf or .png");
  }
  if (!os::find_program(kDot)) {
    throw Error(fmt::format("{}: cannot be drawn: Graphviz is not installed", file.string()),
                "run `apt-get install graphviz`, and repeat the command");
  }
}

void draw_diagram(const Diagram& diagram, const std::filesystem::path& file) {
  require_diagram(file);
  os::AtomicFile drawn(file);
  const os::Answer answer =
      os::run({kDot, "-T" + file.extension().string().substr(1), "-o", drawn.temporary().string()},
              {.input = dot_text(diagram)});
  if (answer.code != 0) {
    throw Error(fmt::format("{}: cannot be drawn: Graphviz says: {}", file.string(), answer.output),
                "install all of Graphviz (Debian package graphviz), or free some disk space");
  }
  drawn.commit(os::Durability::kUnsynced);
}

}  // namespace convoke::report
