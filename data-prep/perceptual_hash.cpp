#include "perceptual_hash.hpp"

#include <algorithm>
#include <bit>

#include "convoke/core/error.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::int64_t kHashRows = 16;
constexpr std::int64_t kHashColumns = 17;

}  // namespace

PerceptualHash perceptual_hash(std::span<const std::uint8_t> picture, std::int64_t height, std::int64_t width,
                               std::int64_t channels) {
  ensure(static_cast<std::int64_t>(picture.size()) == height * width * channels,
         "the pixels of a picture match its extents");
  // Adds up all channels over the cells of a grid; a pixel belongs to the cell that holds its corner. In
  // pictures smaller than the grid, an empty cell takes the value of its neighbor.
  std::array<std::array<std::int64_t, kHashColumns>, kHashRows> sum{}, count{};
  for (std::int64_t y = 0; y < height; ++y) {
    const auto row = static_cast<std::size_t>(y * kHashRows / height);
    for (std::int64_t x = 0; x < width; ++x) {
      const auto column = static_cast<std::size_t>(x * kHashColumns / width);
      const std::uint8_t* const pixel = picture.data() + (y * width + x) * channels;
      for (std::int64_t c = 0; c < channels; ++c) sum[row][column] += pixel[c];
      count[row][column] += channels;
    }
  }
  PerceptualHash hash{};
  for (std::size_t row = 0; row < kHashRows; ++row) {
    for (std::size_t column = 0; column + 1 < kHashColumns; ++column) {
      // Compares sum/count < next sum/next count in whole numbers.
      const bool darker =
          sum[row][column] * count[row][column + 1] < sum[row][column + 1] * count[row][column];
      const std::size_t bit = row * (kHashColumns - 1) + column;
      if (darker) hash[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
  }
  return hash;
}

int distance(const PerceptualHash& a, const PerceptualHash& b) {
  int bits = 0;
  for (std::size_t i = 0; i < a.size(); ++i) bits += std::popcount(a[i] ^ b[i]);
  return bits;
}

}  // namespace convoke::data_prep
