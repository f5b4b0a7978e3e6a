#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::explore {

/// A sample's place in a dataset.
struct Place {
  std::size_t split = 0;   ///< index in DatasetReader::splits()
  std::int64_t index = 0;  ///< in that split

  friend bool operator==(const Place&, const Place&) = default;
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// Draws `wanted` of the numbers 0..count-1, or all if there are no more, ascending; every choice is equally
/// likely. `draw` distinguishes samples with the same seed. R. Floyd, in J. Bentley, CACM 30(9), 1987.
std::vector<std::int64_t> keyed_sample(std::int64_t count, std::int64_t wanted, std::uint64_t seed,
                                       std::uint64_t draw);

/// Draws `wanted` samples of all splits together, whose sizes are given; in the order of the dataset.
std::vector<Place> sample_places(std::span<const std::int64_t> sizes, std::int64_t wanted, std::uint64_t seed,
                                 std::uint64_t draw);

}  // namespace convoke::explore
