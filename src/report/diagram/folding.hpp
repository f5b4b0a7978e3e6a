#pragma once
#include <cstddef>
#include <vector>

#include "convoke/report/diagram.hpp"

namespace convoke::report {

/// Neighboring boxes [first, last] through whose last box every path leads.
struct Section {
  std::size_t first, last;
};

/// Sections of a diagram that are drawn `count` times in a row in the diagram, and once in the drawing.
struct Group {
  std::vector<Section> sections;
  std::size_t count = 1;
};

/// Cuts a diagram into sections, from its source to its sink.
std::vector<Section> sections_of(const Diagram& diagram);

/// Folds equal neighboring sections: boxes are equal if their texts are, and if their inputs are equally far
/// before them. Two equal boxes that follow each other stay separate: a frame would not be simpler.
std::vector<Group> folded(const Diagram& diagram);

}  // namespace convoke::report
