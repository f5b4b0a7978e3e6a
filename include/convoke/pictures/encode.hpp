#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/pictures/image.hpp"

namespace convoke::pictures {

/// Encodes (H, W, C) pixels of 1 (gray) or 3 (RGB) channels as PNG, which is lossless.
std::vector<std::uint8_t> encode_png(std::span<const std::uint8_t> pixels, const PictureSize& size);

/// Encodes (H, W, C) pixels of 1 or 3 channels as baseline JPEG of `quality`, 1 to 100. Above 90 colors keep
/// the full resolution, up to 90 they have half of it in each direction.
std::vector<std::uint8_t> encode_jpeg(std::span<const std::uint8_t> pixels, const PictureSize& size,
                                      int quality);

}  // namespace convoke::pictures
