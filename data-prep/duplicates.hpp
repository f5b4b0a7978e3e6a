#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spool.hpp"

namespace convoke::data_prep {

/// Two items with the same values, or pictures that look the same.
struct Pair {
  std::size_t first, second;  ///< items, first < second
};

/// Items whose samples are equal, value for value: each with the first of its kind.
std::vector<Pair> find_duplicates(const std::vector<Record>& records, const Spool& spool,
                                  std::size_t sample_bytes);

/// Pictures (H, W, C), of at least 32 x 32 pixels, that look the same though their values differ: perceptual
/// hashes at most 8 bits of 256 apart and the pictures, shrunk, at most 6 of 255 apart in the mean. Flat
/// pictures, whose hash says little, are left out. Each is found with one other at least.
std::vector<Pair> find_lookalikes(const std::vector<Record>& records, const Spool& spool, std::int64_t height,
                                  std::int64_t width, std::int64_t channels);

}  // namespace convoke::data_prep
