#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace convoke::report {

/// A box of a diagram, for example a layer.
struct DiagramBox {
  std::string title;
  std::vector<std::string> lines = {};   ///< below the title
  std::vector<std::size_t> inputs = {};  ///< indices of earlier boxes, from which arrows lead to this one
  std::size_t color = 0;                 ///< number of its pale color; boxes of one kind have the same

  friend bool operator==(const DiagramBox&, const DiagramBox&) = default;
};

/// A directed acyclic graph of boxes to be drawn from top to bottom. The first box is its source, the last
/// its sink.
struct Diagram {
  std::string title;  ///< for screen readers; not visible, because it belongs into a caption
  std::vector<DiagramBox> boxes;
};

/// Throws Error unless draw_diagram can write `file`: its name must end in .svg, .pdf or .png, and Graphviz
/// must be installed.
void require_diagram(const std::filesystem::path& file);

/// Draws the diagram into a file, by Graphviz; the file appears when it is complete. Equal neighboring parts
/// are drawn once in a frame with their number. A tall drawing continues in further columns. Throws Error as
/// require_diagram does, or with the message of Graphviz.
void draw_diagram(const Diagram& diagram, const std::filesystem::path& file);

}  // namespace convoke::report
