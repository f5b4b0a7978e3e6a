#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace convoke::data_prep {

/// A decoded image: (H, W, C) bytes.
struct Image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::vector<std::uint8_t> values;
};

/// Decodes a JPEG, PNG, BMP, GIF, TGA, PSD, HDR or PNM file with `channels` channels (1: grey, 3: RGB, 4:
/// with alpha), whatever it was stored with. Throws Error naming the file and the reason.
Image decode_image(const std::filesystem::path& file, std::int64_t channels);

/// Resized with the triangle filter: bilinear when enlarged, weighted over the area when reduced (as Pillow's
/// BILINEAR). Height and width must be positive.
Image resize(const Image& image, std::int64_t height, std::int64_t width);

}  // namespace convoke::data_prep
