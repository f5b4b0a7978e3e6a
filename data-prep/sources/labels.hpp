#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/data_prep/sources/source.hpp"

namespace convoke::data_prep {

/// The largest number of classes of a dataset: a greater label is something else, such as the number of a
/// sample.
inline constexpr std::int64_t kMostClasses = 1'000'000;

/// Returns why a label cannot be a class, such as "its label is -1"; empty if it can.
std::string label_fault(std::int64_t label);

/// Gives the items without faults their labels, and the catalog its classes, from one text for each item.
/// If all texts are whole numbers, these are the labels, and the number of classes is the highest + 1; else
/// the texts name the classes (class_labels). `where` and `class_names` as in class_labels.
void set_labels(Catalog& catalog, std::span<const std::string> texts,
                const std::vector<std::string>& class_names, const std::string& where);

/// Throws Error naming `source` unless the items without faults have at least 2 different labels.
void require_classes(const std::string& source, const Catalog& catalog);

/// Numbered labels of a catalog, made from written labels.
struct ClassLabels {
  std::vector<std::int32_t> labels;  ///< 0..classes-1 of each cell; -1: empty cell
  std::vector<std::string>
      class_names;  ///< `classes` names, or empty if the cells are the numbers 0..classes-1
  std::int64_t classes = 0;
  std::vector<Assumption> assumptions = {};  ///< which labels are taken for one class, or are not
};

/// True for a missing label: as in features (is_missing), but "none" may be a class.
bool is_missing_label(const std::string& cell);

/// Numbers the classes that `cells` name: in numerical order if all are numbers, else by the bytes of their
/// names. Labels that are equal as numbers (1, 1.0, 01) are one class, with the shortest of these names; so
/// are true, yes, false and no in any case. Missing labels are none. With `class_names`, cells must be among
/// them, or numbers 0..K-1. Ignores blanks around a cell. Throws Error, beginning with `where`, for fewer
/// than 2 classes, for labels that rarely repeat (more than 20 of them and more than half as many as cells),
/// and for a name that is not among `class_names`.
ClassLabels class_labels(std::span<const std::string> cells, const std::vector<std::string>& class_names,
                         const std::string& where);

/// Gives the named classes of a catalog, whose items have labels, the names `given`; none: does nothing. If
/// one of them is already the name of a class, all must be, and the labels follow their order. Otherwise the
/// classes are renamed by position, which is an assumption. Throws Error, beginning with `where`, if there
/// are more or fewer names than classes, or if only some are names of classes.
void rename_classes(Catalog& catalog, const std::vector<std::string>& given, const std::string& where);

}  // namespace convoke::data_prep
