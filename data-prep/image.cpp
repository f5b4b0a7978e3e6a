#include "convoke/data_prep/image.hpp"

#include <fmt/format.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#include <stb/stb_image.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <system_error>

#include "convoke/core/error.hpp"

namespace convoke::data_prep {
namespace {

std::vector<stbi_uc> read_whole(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file))
    throw Error(fmt::format("{}: is a folder, no image", file.string()));
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw Error(
        fmt::format("{}: cannot be opened: {}", file.string(), std::generic_category().message(errno)));
  }
  std::vector<stbi_uc> bytes{std::istreambuf_iterator<char>(in), {}};
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error(fmt::format("{}: is too large for an image, {} bytes", file.string(), bytes.size()));
  }
  return bytes;
}

// stb_image fills what a truncated JPEG lacks with grey and says nothing: a whole one has the end marker, ff
// d9, after the start of its scan, ff da (before that, an embedded thumbnail may have one of its own).
bool is_cut_jpeg(const std::vector<stbi_uc>& bytes) {
  if (bytes.size() < 2 || bytes[0] != 0xFF || bytes[1] != 0xD8) return false;
  std::size_t at = 2;  // segments: ff, kind, length in 2 bytes (which count themselves)
  while (at + 4 <= bytes.size() && bytes[at] == 0xFF && bytes[at + 1] != 0xDA) {
    at += bytes[at + 1] == 0xFF ? 1 : 2U + (static_cast<std::size_t>(bytes[at + 2]) << 8 | bytes[at + 3]);
  }
  constexpr std::array<stbi_uc, 2> kEnd{0xFF, 0xD9};
  const auto scan = bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at, bytes.size()));
  return std::search(scan, bytes.end(), kEnd.begin(), kEnd.end()) == bytes.end();
}

/// The inputs first, first + 1, ... that an output takes from, and their weights, which sum to 1.
struct Tap {
  std::int64_t first = 0;
  std::vector<float> weights;
};

// Triangle filter: weight of input i for output o is max(0, 1 - |(i + 1/2 - center) / support|), where
// center = (o + 1/2) in / out, and support = max(1, in / out).
std::vector<Tap> triangle_taps(std::int64_t in, std::int64_t out) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double support = std::max(1.0, scale);
  std::vector<Tap> taps(static_cast<std::size_t>(out));
  for (std::int64_t o = 0; o < out; ++o) {
    Tap& tap = taps[static_cast<std::size_t>(o)];
    const double center = (static_cast<double>(o) + 0.5) * scale;
    tap.first = std::max<std::int64_t>(0, std::llround(std::floor(center - support + 0.5)));
    const std::int64_t last = std::min<std::int64_t>(in, std::llround(std::floor(center + support + 0.5)));
    double sum = 0;
    for (std::int64_t i = tap.first; i < last; ++i) {
      const double weight = std::max(0.0, 1.0 - std::abs((static_cast<double>(i) + 0.5 - center) / support));
      tap.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : tap.weights) weight = static_cast<float>(weight / sum);
  }
  return taps;
}

}  // namespace

Image decode_image(const std::filesystem::path& file, std::int64_t channels) {
  assert(channels >= 1 && channels <= 4);
  const std::vector<stbi_uc> bytes = read_whole(file);
  if (is_cut_jpeg(bytes))
    throw Error(fmt::format("{}: cannot be decoded: the JPEG is truncated", file.string()));
  int width = 0, height = 0, stored = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> values(
      stbi_load_from_memory(bytes.data(), static_cast<int>(bytes.size()), &width, &height, &stored,
                            static_cast<int>(channels)),
      stbi_image_free);
  if (values == nullptr) {
    throw Error(fmt::format("{}: cannot be decoded: {}", file.string(), stbi_failure_reason()));
  }
  Image image{height, width, channels, {}};
  image.values.assign(values.get(), values.get() + image.height * image.width * channels);
  return image;
}

Image resize(const Image& image, std::int64_t height, std::int64_t width) {
  assert(height > 0 && width > 0 && image.height > 0 && image.width > 0);
  if (height == image.height && width == image.width) return image;
  const std::int64_t c_count = image.channels;

  // Rows first: (H, W, C) to (H, width, C), then columns.
  std::vector<float> rows(static_cast<std::size_t>(image.height * width * c_count));
  const std::vector<Tap> across = triangle_taps(image.width, width);
  for (std::int64_t y = 0; y < image.height; ++y) {
    const std::uint8_t* const in = image.values.data() + y * image.width * c_count;
    float* const out = rows.data() + y * width * c_count;
    for (std::int64_t x = 0; x < width; ++x) {
      const Tap& tap = across[static_cast<std::size_t>(x)];
      for (std::int64_t c = 0; c < c_count; ++c) {
        float sum = 0;
        for (std::size_t k = 0; k < tap.weights.size(); ++k) {
          sum += tap.weights[k] *
                 static_cast<float>(in[(tap.first + static_cast<std::int64_t>(k)) * c_count + c]);
        }
        out[x * c_count + c] = sum;
      }
    }
  }
  Image resized{height, width, c_count, {}};
  resized.values.resize(static_cast<std::size_t>(height * width * c_count));
  const std::vector<Tap> down = triangle_taps(image.height, height);
  const std::int64_t row = width * c_count;
  for (std::int64_t y = 0; y < height; ++y) {
    const Tap& tap = down[static_cast<std::size_t>(y)];
    for (std::int64_t i = 0; i < row; ++i) {
      float sum = 0;
      for (std::size_t k = 0; k < tap.weights.size(); ++k) {
        sum += tap.weights[k] *
               rows[static_cast<std::size_t>((tap.first + static_cast<std::int64_t>(k)) * row + i)];
      }
      resized.values[static_cast<std::size_t>(y * row + i)] =
          static_cast<std::uint8_t>(std::clamp(std::lround(sum), 0L, 255L));
    }
  }
  return resized;
}

}  // namespace convoke::data_prep
