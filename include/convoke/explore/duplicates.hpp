#pragma once
#include <cstdint>
#include <vector>

#include "convoke/data/dataset_reader.hpp"
#include "convoke/explore/sample.hpp"

namespace convoke::explore {

/// The samples of a dataset that are equal, byte for byte.
struct Duplicates {
  struct Pair {
    SampleIndex first, second;
  };

  std::int64_t repeated = 0;       ///< samples that equal an earlier one
  std::int64_t contradictory = 0;  ///< of these, samples with another label than the earlier one
  /// By pair of splits (a, b): samples of b that equal an earlier one of b (a = b), or one of a (a before b).
  std::vector<std::vector<std::int64_t>> between = {};
  /// Some pairs: those with different labels first, then those across splits.
  std::vector<Pair> examples = {};

  bool leak() const;  ///< true if a sample is in two splits
};

/// `checksums`: of each sample of each split. Reads and compares samples with equal checksums.
Duplicates find_duplicates(const data::DatasetReader& reader,
                           const std::vector<std::vector<std::uint32_t>>& checksums,
                           std::size_t most_examples);

}  // namespace convoke::explore
