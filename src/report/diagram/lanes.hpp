#pragma once
#include <cstddef>
#include <map>
#include <vector>

#include "convoke/report/diagram.hpp"
#include "report/diagram/folding.hpp"

namespace convoke::report {

/// An arrow between two boxes of a section; `from` may be the last box of the section before.
struct Link {
  std::size_t from, to;  ///< indices in Diagram::boxes
  int lane = 0;          ///< in which it passes the layers between its ends
};

/// The layers and lanes of a section. Layer 0 and lane 0 are those of the box before the section.
struct LaneChart {
  std::map<std::size_t, std::size_t> layer;  ///< by box
  std::map<std::size_t, int> lane;           ///< by box: 0 in the middle, positive to the right
  std::vector<Link> links;
  std::size_t layers = 0;  ///< layers 1, ..., layers
};

/// Assigns the boxes of a section to layers and lanes.
LaneChart lanes_of(const Diagram& diagram, const Section& section);

}  // namespace convoke::report
