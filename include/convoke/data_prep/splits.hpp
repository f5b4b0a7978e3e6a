#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/data_prep/sources/source.hpp"

namespace convoke::data_prep {

/// A split and its part of all samples.
struct SplitPart {
  std::string name;
  double fraction = 0;  ///< (0, 1]
};

/// How the items of a source are divided into splits.
struct SplitOptions {
  std::vector<SplitPart> parts = {};  ///< empty: as the source says; 0.8 train and 0.2 test if it does not
  std::int64_t fold = 0;              ///< 1..folds: this one is "test", the others "train"; 0: no folds
  std::int64_t folds = 0;
  bool stratified = true;  ///< every class is spread alike
  std::uint64_t seed = 1;
};

/// "train=0.8,validation=0.1,test=0.1". Throws Error for what is no such list: fractions must sum to 1.
std::vector<SplitPart> split_parts_from(const std::string& text);

/// Which split each item is in.
struct SplitAssignment {
  static constexpr std::int32_t kNone = -1;
  std::vector<std::string> names;     ///< train, validation, test, then others by name
  std::vector<std::int32_t> of_item;  ///< index into names; kNone for items with a fault
  std::string rule;                   ///< in words: "the source's own", "stratified, ..."
  bool is_sources = false;            ///< the source's own

  /// The split that is trained on: "train", or the first if none is called so, as statistics are taken.
  std::size_t training() const;
  /// Items of split `split`, in the source's order.
  std::vector<std::size_t> items(std::size_t split) const;
};

/// A pure function of its arguments. Items of one group are never parted: groups, the largest first and equal
/// ones in an order keyed by the seed, go where they bring the counts of the classes nearest to what they
/// should be (as scikit-learn's StratifiedGroupKFold). Without groups every class is shuffled and cut. Throws
/// Error if a split would have no sample, or if some items name their split and others do not.
SplitAssignment assign_splits(const Catalogue& catalogue, const SplitOptions& options);

/// True if a split's samples lie class by class in the source, so that part of it would not be like the rest.
bool lies_by_class(const Catalogue& catalogue, const std::vector<std::size_t>& items);

/// Puts the items in an order keyed by (seed, split).
void shuffle_items(std::vector<std::size_t>& items, std::uint64_t seed, std::size_t split);

}  // namespace convoke::data_prep
