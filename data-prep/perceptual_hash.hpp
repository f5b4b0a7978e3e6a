#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "convoke/core/shape.hpp"

namespace convoke::data_prep {

/// 256 bits that resized, recompressed or slightly brightened copies of a picture share: is each of 16 x 16
/// cells darker than its right neighbour? (The "difference hash", N. Krawetz, 2013.)
using PerceptualHash = std::array<std::uint64_t, 4>;

/// Of a picture (H, W, C).
PerceptualHash perceptual_hash(std::span<const std::uint8_t> picture, std::int64_t height, std::int64_t width,
                               std::int64_t channels);

/// Bits in which they differ.
int distance(const PerceptualHash& a, const PerceptualHash& b);

}  // namespace convoke::data_prep
