#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "convoke/report/diagram.hpp"

namespace convoke::report {

struct Point {
  double x = 0, y = 0;  ///< mm; y counts downwards
};

struct Rectangle {
  double left = 0, top = 0, right = 0, bottom = 0;  ///< mm
};

/// A box with its place.
struct PlacedBox {
  std::size_t box;  ///< index in Diagram::boxes
  Rectangle place;
};

/// A frame around boxes that occur several times.
struct Frame {
  Rectangle place;
  std::size_t count;
};

/// The places of all that is drawn; the drawing begins at (0, 0).
struct DiagramLayout {
  double width = 0, height = 0;  ///< mm
  std::vector<PlacedBox> boxes;
  std::vector<Frame> frames;
  std::vector<std::vector<Point>> arrows;  ///< polylines; the last point is the tip
};

/// Letters and distances in a drawing.
inline constexpr double kDiagramLineMm = 3.0;     ///< height of a line of text
inline constexpr double kDiagramPaddingMm = 1.2;  ///< above and below the text of a box

/// Places the boxes of a diagram in layers from top to bottom: a box is below its inputs (the longest path
/// determines the layer). Each section (see Section) has its longest path as a straight line in the middle;
/// every other path, and every arrow that passes a layer, has a lane of its own beside it, so that no arrow
/// crosses a box.
DiagramLayout layout_of(const Diagram& diagram);

}  // namespace convoke::report
