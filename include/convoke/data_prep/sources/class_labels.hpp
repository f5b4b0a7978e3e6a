#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoke::data_prep {

/// Numbered labels of a catalogue, made from written labels.
struct ClassLabels {
  std::vector<std::int32_t> labels;  ///< 0..classes-1 of each cell; -1: empty cell
  std::vector<std::string>
      class_names;  ///< `classes` names, or empty if the cells are the numbers 0..classes-1
  std::int64_t classes = 0;
};

/// Numbers the classes that `cells` name: in numerical order if all are numbers, else by the bytes of their
/// names. With `class_names`, cells must be among them, or numbers 0..K-1. Ignores blanks around a cell.
/// Throws Error, beginning with `where`, for fewer than 2 classes, for labels that rarely repeat (more than
/// 20 of them and more than half as many as cells), and for a name that is not among `class_names`.
ClassLabels class_labels(std::span<const std::string> cells, const std::vector<std::string>& class_names,
                         const std::string& where);

}  // namespace convoke::data_prep
