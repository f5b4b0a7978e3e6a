#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "convoke/data/dataset_reader.hpp"
#include "convoke/explore/sampling.hpp"

namespace convoke::explore {

/// Samples that are equal, byte for byte, in all of a dataset.
struct Duplicates {
  struct Pair {
    Place first, second;
  };

  std::int64_t repeated = 0;       ///< samples that equal an earlier one
  std::int64_t contradictory = 0;  ///< of these, such as have another label than it
  /// By split and split: samples of b that equal an earlier one of b (a = b), or one of a (a before b).
  std::vector<std::vector<std::int64_t>> between = {};
  /// Some pairs: first those with different labels, then those across splits.
  std::vector<Pair> examples = {};

  bool leak() const;  ///< a sample stands in two splits
};

/// `checksums`: of each split, of each sample. Samples with equal checksums are read and compared.
Duplicates find_duplicates(const data::DatasetReader& reader,
                           const std::vector<std::vector<std::uint32_t>>& checksums,
                           std::size_t most_examples);

}  // namespace convoke::explore
