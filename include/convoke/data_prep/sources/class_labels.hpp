#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoke::data_prep {

/// Labels as a catalogue wants them, from labels as people write them.
struct ClassLabels {
  std::vector<std::int32_t> labels;  ///< 0..classes-1 of each cell; -1: it is empty
  std::vector<std::string>
      class_names;  ///< `classes` names, or none if the cells are 0..classes-1 themselves
  std::int64_t classes = 0;
};

/// Numbers the classes that `cells` name: in numerical order if all are numbers, else by the bytes of their
/// names. With `class_names`, cells must be among them, or numbers 0..K-1. Blanks around a cell do not count.
/// Throws Error, beginning with `where`, for fewer than 2 classes, for labels that are hardly ever the same
/// (more than 20 of them and more than half as many as cells), and for a name that is not among
/// `class_names`.
ClassLabels class_labels(std::span<const std::string> cells, const std::vector<std::string>& class_names,
                         const std::string& where);

}  // namespace convoke::data_prep
