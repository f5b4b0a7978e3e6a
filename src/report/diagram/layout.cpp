#include "report/diagram/layout.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "convoke/core/text.hpp"
#include "report/diagram/folding.hpp"
#include "report/diagram/lanes.hpp"

namespace convoke::report {
namespace {

constexpr double kCharacterMm = 1.35, kBoldMm = 1.55, kLeastWidthMm = 26;  // of letters of 7 pt; of a box
constexpr double kLayerGapMm = 5, kLaneGapMm = 3, kArrowLaneMm = 5;
constexpr double kFrameMm = 2.5;  // between a frame and its boxes
constexpr double kColumnGapMm = 9, kMarginMm = 2;
constexpr double kOneColumnMm = 240, kAspect = 1.1;  // a taller drawing has columns; height over width then
constexpr double kPortMm = 2.2;                      // between arrows at a box
constexpr int kCurveSteps = 8;

double box_width(const Diagram& diagram) {
  double longest = 0;
  for (const DiagramBox& box : diagram.boxes) {
    longest = std::max(longest, kBoldMm * static_cast<double>(character_count(box.title)));
    for (const std::string& line : box.lines)
      longest = std::max(longest, kCharacterMm * static_cast<double>(character_count(line)));
  }
  return std::max(kLeastWidthMm, longest + 3);
}

double box_height(const DiagramBox& box) {
  return kDiagramLineMm * static_cast<double>(1 + box.lines.size()) + 2 * kDiagramPaddingMm;
}

/// Places of a section, relative to the middle of its column and to the bottom of the box before it.
struct SectionLayout {
  LaneChart lanes;
  std::map<int, double> middle;     ///< of each lane
  std::vector<double> top, bottom;  ///< of each layer; layer 0 ends at 0
  double left = 0, right = 0;
};

SectionLayout layout_of(const Diagram& diagram, const Section& section, double width) {
  SectionLayout layout;
  layout.lanes = lanes_of(diagram, section);
  std::map<int, double> widths{{0, width}};
  for (const Link& link : layout.lanes.links) widths.try_emplace(link.lane, kArrowLaneMm);
  for (const auto& [box, lane] : layout.lanes.lane) widths[lane] = width;
  layout.middle[0] = 0;
  layout.left = -width / 2, layout.right = width / 2;
  for (int lane = 1; widths.contains(lane); ++lane) {
    layout.middle[lane] = layout.right + kLaneGapMm + widths[lane] / 2;
    layout.right += kLaneGapMm + widths[lane];
  }
  for (int lane = -1; widths.contains(lane); --lane) {
    layout.middle[lane] = layout.left - kLaneGapMm - widths[lane] / 2;
    layout.left -= kLaneGapMm + widths[lane];
  }
  std::vector<double> heights(layout.lanes.layers + 1);
  for (const auto& [box, layer] : layout.lanes.layer) {
    if (layer > 0) heights[layer] = std::max(heights[layer], box_height(diagram.boxes[box]));
  }
  layout.top = {0}, layout.bottom = {0};
  for (std::size_t layer = 1; layer < heights.size(); ++layer) {
    layout.top.push_back(layout.bottom.back() + kLayerGapMm);
    layout.bottom.push_back(layout.top.back() + heights[layer]);
  }
  return layout;
}

/// A group with its sections below one another.
struct GroupLayout {
  std::vector<SectionLayout> sections;
  double left = 0, right = 0, height = 0;
  bool framed = false;
};

GroupLayout layout_of(const Diagram& diagram, const Group& group, double width) {
  GroupLayout layout;
  layout.framed = group.count > 1;
  for (const Section& section : group.sections) {
    const SectionLayout& placed = layout.sections.emplace_back(layout_of(diagram, section, width));
    layout.left = std::min(layout.left, placed.left), layout.right = std::max(layout.right, placed.right);
    layout.height += placed.bottom.back();
  }
  if (layout.framed)
    layout.left -= kFrameMm, layout.right += kFrameMm, layout.height += 2 * kFrameMm + kDiagramLineMm;
  return layout;
}

// Adds a curve to a point, vertical at both ends.
void curve_to(std::vector<Point>& line, Point end) {
  const Point begin = line.back();
  if (std::abs(begin.x - end.x) < 1e-9) return line.push_back(end);
  for (int step = 1; step <= kCurveSteps; ++step) {
    const double t = static_cast<double>(step) / kCurveSteps, s = t * t * (3 - 2 * t);
    line.push_back({begin.x + s * (end.x - begin.x), begin.y + t * (end.y - begin.y)});
  }
}

/// Draws groups into columns.
class Columns {
 public:
  Columns(const Diagram& diagram, double width, double height)
      : diagram_(diagram), box_width_(width), height_(height) {}

  void add(const std::vector<Group>& groups, const std::vector<GroupLayout>& layouts) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (g == 0 || (y_ > kMarginMm && y_ - kMarginMm + layouts[g].height > height_))
        begin_column(layouts, g);
      add(groups[g], layouts[g]);
    }
    layout_.width = right_ + kMarginMm;
    layout_.height += kMarginMm;
    for (const PlacedBox& box : layout_.boxes)
      layout_.height = std::max(layout_.height, box.place.bottom + kMarginMm);
    for (const Frame& frame : layout_.frames)
      layout_.height = std::max(layout_.height, frame.place.bottom + kMarginMm);
  }
  DiagramLayout take() { return std::move(layout_); }

 private:
  // The column is as wide as the widest of the groups that it will have.
  void begin_column(const std::vector<GroupLayout>& layouts, std::size_t first) {
    double left = 0, right = 0, y = 0;
    for (std::size_t g = first; g < layouts.size(); ++g) {
      y += layouts[g].height;
      if (g > first && y > height_) break;
      left = std::min(left, layouts[g].left), right = std::max(right, layouts[g].right);
    }
    const double last_right = right_, last_middle = middle_, last_y = y_;
    middle_ = (first == 0 ? kMarginMm : right_ + kColumnGapMm) - left;
    right_ = middle_ + right;
    y_ = kMarginMm;
    if (first == 0) return;
    // From the last box down, between the columns up, and to the first box, whose own arrow continues.
    const double gutter = last_right + kColumnGapMm / 2, low = last_y + kLayerGapMm / 2, high = y_;
    layout_.height = std::max(layout_.height, low);
    bridge_ = {
        {last_middle, last_bottom_}, {last_middle, low}, {gutter, low}, {gutter, high}, {middle_, high}};
  }

  void add(const Group& group, const GroupLayout& placed) {
    if (placed.framed) {
      const double top = y_ + kFrameMm;
      layout_.frames.push_back(
          {{middle_ + placed.left, top, middle_ + placed.right, y_ + placed.height}, group.count});
      y_ += kFrameMm + kDiagramLineMm;
    }
    for (const SectionLayout& section : placed.sections) {
      add(section);
      y_ += section.bottom.back();
    }
    if (placed.framed) y_ += kFrameMm;
  }

  void add(const SectionLayout& section) {
    std::map<std::size_t, Rectangle> places;
    for (const auto& [box, layer] : section.lanes.layer) {
      if (layer == 0) {
        places[box] = {middle_ - box_width_ / 2, last_bottom_, middle_ + box_width_ / 2, last_bottom_};
        continue;
      }
      const double x = middle_ + section.middle.at(section.lanes.lane.at(box));
      const double y = y_ + (section.top[layer] + section.bottom[layer]) / 2;
      const double half = box_height(diagram_.boxes[box]) / 2;
      places[box] = {x - box_width_ / 2, y - half, x + box_width_ / 2, y + half};
      layout_.boxes.push_back({box, places[box]});
    }
    for (const Link& link : section.lanes.links) add(section, link, places.at(link.from), places.at(link.to));
    last_bottom_ = y_ + section.bottom.back();
    bridge_.clear();
  }

  // An arrow leaves a box and meets the next one a little to the side of the lane that it uses.
  void add(const SectionLayout& section, const Link& link, const Rectangle& from, const Rectangle& to) {
    const LaneChart& lanes = section.lanes;
    const std::size_t first = lanes.layer.at(link.from), last = lanes.layer.at(link.to);
    // How many lanes to the right of a box the arrow passes, at its beginning or at its end.
    const bool passes = last > first + 1;
    const auto port = [&](std::size_t box, std::size_t other) {
      const int lane = passes ? link.lane : lanes.lane.at(other);
      return kPortMm * std::clamp(lane - lanes.lane.at(box), -4, 4);
    };
    std::vector<Point> line;
    if (first == 0 && !bridge_.empty()) {
      line = bridge_;
    } else {
      line = {{(from.left + from.right) / 2 + port(link.from, link.to), from.bottom}};
      if (first > 0) line.push_back({line.back().x, y_ + section.bottom[first]});
    }
    if (first == 0 && line.back().y < y_) line.push_back({line.back().x, y_});
    if (passes) {
      const double x = middle_ + section.middle.at(link.lane);
      curve_to(line, {x, y_ + section.top[first + 1]});
      line.push_back({x, y_ + section.bottom[last - 1]});
    }
    const double x = (to.left + to.right) / 2 + port(link.to, link.from);
    constexpr double kTipMm = 1.2;
    curve_to(line, {x, y_ + section.top[last] - kTipMm});
    line.push_back({x, to.top});
    layout_.arrows.push_back(std::move(line));
  }

  const Diagram& diagram_;
  const double box_width_, height_;
  DiagramLayout layout_;
  double middle_ = 0, right_ = 0;  // of the column
  double y_ = 0;                   // the end of the last group
  double last_bottom_ = 0;         // of the last box
  std::vector<Point> bridge_;      // from the column before
};

// The number of columns of at most this height.
std::size_t columns_of(const std::vector<GroupLayout>& layouts, double height) {
  std::size_t columns = 1;
  double y = 0;
  for (const GroupLayout& group : layouts) {
    if (y > 0 && y + group.height > height) ++columns, y = 0;
    y += group.height;
  }
  return columns;
}

// The least height of columns of about equal length that give the drawing a pleasant shape.
double column_height(const std::vector<GroupLayout>& layouts) {
  constexpr double kStepMm = 1;
  double all = 0, width = 0, height = 0;
  for (const GroupLayout& group : layouts) {
    all += group.height, height = std::max(height, group.height);
    width = std::max(width, group.right - group.left + kColumnGapMm);
  }
  if (all <= kOneColumnMm) return all;
  const auto columns =
      static_cast<std::size_t>(std::max(1.0, std::round(std::sqrt(all / (kAspect * width)))));
  while (columns_of(layouts, height) > columns) height += kStepMm;
  return height;
}

}  // namespace

DiagramLayout layout_of(const Diagram& diagram) {
  const double width = box_width(diagram);
  const std::vector<Group> groups = folded(diagram);
  std::vector<GroupLayout> layouts;
  for (const Group& group : groups) layouts.push_back(layout_of(diagram, group, width));
  Columns columns(diagram, width, column_height(layouts));
  columns.add(groups, layouts);
  return columns.take();
}

}  // namespace convoke::report
