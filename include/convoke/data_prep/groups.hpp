#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "convoke/data_prep/sources/source.hpp"

namespace convoke::data_prep {

/// Items that stay in one part of a drawn split: disjoint sets (R. Tarjan, 1975). At first, every item is
/// alone.
class Groups {
 public:
  explicit Groups(std::size_t items);

  /// Makes one group of the groups of two items.
  void join(std::size_t a, std::size_t b);

  /// Returns the first item of an item's group.
  std::size_t first_of(std::size_t item) const;

 private:
  std::vector<std::size_t> towards_first_;  // an earlier item of the group, or the item itself
};

/// Returns the groups that a source names (Item::group). With a `pattern`, an ECMAScript regular expression
/// that is searched in these names, or in the names of the items if the source has no groups, items stay
/// together if its first pair of parentheses (without any, the whole match) takes equal text. Items without a
/// match stay alone, and `notes` gets a sentence with their number. Throws Error if the pattern is invalid,
/// or groups no two items.
Groups groups_of(const Catalog& catalog, const std::string& pattern, std::vector<std::string>& notes);

}  // namespace convoke::data_prep
