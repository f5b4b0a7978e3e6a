#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/data_prep/groups.hpp"
#include "convoke/data_prep/sources/source.hpp"

namespace convoke::data_prep {

/// A split and its share of all samples.
struct SplitPart {
  std::string name;
  double fraction = 0;  ///< (0, 1]
};

/// How the items of a source are assigned to splits.
struct SplitOptions {
  std::vector<SplitPart> parts = {};  ///< empty: the source's splits; if it has none, 0.8 train and 0.2 test
  std::int64_t fold = 0;              ///< 1..folds: this one is "test", the others "train"; 0: no folds
  std::int64_t folds = 0;
  bool stratified = true;     ///< every class is spread equally
  std::string group_by = {};  ///< pattern of groups_of()
  std::uint64_t seed = 1;

  /// True if they ask for other splits than the source's.
  bool draw() const { return folds > 0 || !parts.empty(); }
};

/// Parses "train=0.8,validation=0.1,test=0.1". Throws Error if the text is not such a list; fractions must
/// sum to 1.
std::vector<SplitPart> split_parts_from(const std::string& text);

/// The split of each item.
struct SplitAssignment {
  static constexpr std::int32_t kNone = -1;
  std::vector<std::string> names;     ///< train, validation, test, then others by name
  std::vector<std::int32_t> of_item;  ///< index into names; kNone for items with a fault
  std::string rule;                   ///< in words: "the source's own", "stratified, ..."

  /// Returns the split for training: "train", or the first if there is no "train"; statistics use the same
  /// split.
  std::size_t training() const;
  /// Items of split `split`, in the source's order.
  std::vector<std::size_t> items(std::size_t split) const;
};

/// True if the options ask for other splits than the source's, or the source has none.
bool draws_splits(const Catalog& catalog, const SplitOptions& options);

/// Assigns each item to a split. A pure function of its arguments. In a drawn split, items of one group stay
/// together: groups (largest first, equal ones in an order keyed by the seed) go where they bring the class
/// counts nearest to their targets, as scikit-learn's StratifiedGroupKFold. Without groups every class is
/// shuffled and cut. Throws Error if a split would have no sample, or if only some items name their split.
SplitAssignment assign_splits(const Catalog& catalog, const Groups& groups, const SplitOptions& options);

/// Throws Error, beginning with `where`, if items of one group are in different splits of the source.
void expect_whole_groups(const Catalog& catalog, const Groups& groups, const SplitAssignment& splits,
                         const std::string& where);

/// True if the source lists a split's samples class by class (in any order, also more than once), so that a
/// part of it would differ from the rest.
bool lies_by_class(const Catalog& catalog, const std::vector<std::size_t>& items);

/// Puts the items in an order keyed by (seed, split).
void shuffle_items(std::vector<std::size_t>& items, std::uint64_t seed, std::size_t split);

}  // namespace convoke::data_prep
