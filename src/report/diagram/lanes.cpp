#include "report/diagram/lanes.hpp"

#include <algorithm>
#include <set>

namespace convoke::report {
namespace {

/// Cells of lanes and layers, and the path that each belongs to.
class Lanes {
 public:
  /// Takes the free lane nearest to the middle in the layers [first, last]: 1, -1, 2, -2, ...
  int take(std::size_t first, std::size_t last, std::size_t path) {
    for (int n = 2;; ++n) {
      const int lane = n % 2 == 0 ? n / 2 : -(n / 2);
      const auto cell = paths_.lower_bound({lane, first});
      if (cell != paths_.end() && cell->first <= std::pair{lane, last}) continue;
      for (std::size_t layer = first; layer <= last; ++layer) paths_[{lane, layer}] = path;
      return lane;
    }
  }
  void put_box(int lane, std::size_t layer) { boxes_.emplace(lane, layer); }

  /// True if an arrow of the path can pass the layers [first, last] in this lane.
  bool passable(int lane, std::size_t first, std::size_t last, std::size_t path) const {
    for (std::size_t layer = first; layer <= last; ++layer) {
      const auto cell = paths_.find({lane, layer});
      if (cell == paths_.end() || cell->second != path || boxes_.contains({lane, layer})) return false;
    }
    return true;
  }

 private:
  std::map<std::pair<int, std::size_t>, std::size_t> paths_;
  std::set<std::pair<int, std::size_t>> boxes_;
};

// The longest path to `last`, which is lane 0.
void add_middle(const Diagram& diagram, std::size_t last, LaneChart& chart) {
  for (std::size_t box = last; chart.layer.at(box) > 0;) {
    chart.lane[box] = 0;
    const std::vector<std::size_t>& inputs = diagram.boxes[box].inputs;
    const auto before = std::find_if(inputs.begin(), inputs.end(), [&](std::size_t input) {
      return chart.layer.at(input) + 1 == chart.layer.at(box);
    });
    if (before == inputs.end()) return;
    box = *before;
  }
}

using Readers = std::map<std::size_t, std::vector<std::size_t>>;

// Returns the path that begins at `box` and ends before a box that has a lane.
std::vector<std::size_t> path_from(std::size_t box, const Readers& readers, const LaneChart& chart) {
  std::vector<std::size_t> path{box};
  while (true) {
    const auto next = readers.find(path.back());
    if (next == readers.end()) return path;
    const auto reader = std::find_if(next->second.begin(), next->second.end(),
                                     [&](std::size_t each) { return !chart.lane.contains(each); });
    if (reader == next->second.end()) return path;
    path.push_back(*reader);
  }
}

}  // namespace

LaneChart lanes_of(const Diagram& diagram, const Section& section) {
  LaneChart chart;
  // 1. Layers: the longest path from the box before the section.
  if (section.first > 0) chart.layer[section.first - 1] = 0, chart.lane[section.first - 1] = 0;
  for (std::size_t box = section.first; box <= section.last; ++box) {
    std::size_t layer = 1;
    for (const std::size_t input : diagram.boxes[box].inputs) {
      layer = std::max(layer, chart.layer.at(input) + 1);
      chart.links.push_back({input, box});
    }
    if (box == section.last) layer = std::max(layer, chart.layers + 1);
    chart.layer[box] = layer;
    chart.layers = std::max(chart.layers, layer);
  }

  // 2. Lanes of boxes: the longest path in the middle, every further path beside it.
  add_middle(diagram, section.last, chart);
  Readers readers;
  for (const Link& link : chart.links) readers[link.from].push_back(link.to);
  Lanes lanes;
  std::map<std::size_t, std::size_t> path_of;  // a path has the number of its first box
  for (std::size_t box = section.first; box <= section.last; ++box) {
    if (chart.lane.contains(box)) continue;
    const std::vector<std::size_t> path = path_from(box, readers, chart);
    std::size_t begin = chart.layer.at(box), end = chart.layer.at(path.back());
    for (const std::size_t input : diagram.boxes[box].inputs)
      begin = std::min(begin, chart.layer.at(input) + 1);
    if (const auto next = readers.find(path.back()); next != readers.end())
      end = std::max(end, chart.layer.at(next->second.front()) - 1);
    const int lane = lanes.take(begin, end, box);
    for (const std::size_t each : path) {
      chart.lane[each] = lane, path_of[each] = box;
      lanes.put_box(lane, chart.layer.at(each));
    }
  }

  // 3. Lanes of arrows that pass layers: that of the path at one end if it is free there, or a further one.
  for (Link& link : chart.links) {
    const std::size_t first = chart.layer.at(link.from) + 1, last = chart.layer.at(link.to) - 1;
    link.lane = chart.lane.at(link.to);
    if (first > last) continue;
    const auto passes_with = [&](std::size_t box) {
      const auto path = path_of.find(box);
      return path != path_of.end() && lanes.passable(chart.lane.at(box), first, last, path->second);
    };
    if (passes_with(link.to)) continue;
    link.lane = passes_with(link.from) ? chart.lane.at(link.from) : lanes.take(first, last, link.from);
  }
  return chart;
}

}  // namespace convoke::report
