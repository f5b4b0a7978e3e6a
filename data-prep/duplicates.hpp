#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "spool.hpp"

namespace convoke::data_prep {

/// Two items with the same values, or pictures that look the same: first < second.
using Pair = std::pair<std::size_t, std::size_t>;

/// Finds items whose samples are equal, value for value; pairs each with the first such item.
std::vector<Pair> find_duplicates(const std::vector<Record>& records, const Spool& spool,
                                  std::size_t sample_bytes);

/// Finds pictures (H, W, C), of at least 32 x 32 pixels, that look the same though their values differ: their
/// perceptual hashes differ in at most 8 of 256 bits, and the shrunk pictures by at most 6 of 255 in the
/// mean. Skips flat pictures, whose hash carries little information. Each such picture is in at least one
/// pair.
std::vector<Pair> find_near_duplicates(const std::vector<Record>& records, const Spool& spool,
                                       std::int64_t height, std::int64_t width, std::int64_t channels);

}  // namespace convoke::data_prep
