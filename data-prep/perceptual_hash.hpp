#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "convoke/core/shape.hpp"

namespace convoke::data_prep {

/// 256 bits that resized, recompressed or slightly brightened copies of a picture share. A bit is set if one
/// of 16 x 16 cells is darker than its right neighbor (the "difference hash", N. Krawetz, 2013).
using PerceptualHash = std::array<std::uint64_t, 4>;

/// Returns the hash of a picture (H, W, C).
PerceptualHash perceptual_hash(std::span<const std::uint8_t> picture, std::int64_t height, std::int64_t width,
                               std::int64_t channels);

/// Returns the number of bits that differ.
int distance(const PerceptualHash& a, const PerceptualHash& b);

}  // namespace convoke::data_prep
