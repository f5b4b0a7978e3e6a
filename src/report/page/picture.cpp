#include "convoke/report/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/pictures/encode.hpp"
#include "report/page/html.hpp"

namespace convoke::report {
namespace {

constexpr int kQuality = 90;
constexpr std::int64_t kGap = 2;  // pixels
constexpr std::uint8_t kGapLevel = 128;
constexpr std::int64_t kPictureColors = 3;

using Bytes = std::vector<std::uint8_t>;

// RFC 4648.
std::string base64(const Bytes& bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < 3; ++b) word = word << 8 | (b < left ? bytes[i + b] : 0U);
    for (std::size_t digit = 0; digit < 4; ++digit) {
      text += digit <= left ? kDigits[word >> (18 - 6 * digit) & 63U] : '=';
    }
  }
  return text;
}

void require_pixels(const Picture& picture) {
  ensure(std::ssize(picture.pixels) == picture.width * picture.height * picture.channels,
         "a picture must have height x width x channels values");
}

constexpr double kCover = 0.65;  // share of the color where the map is 1

/// The two places of an axis between which a pixel lies, and the share of the second.
struct Between {
  std::int64_t first, second;
  double share;
};

Between between(std::int64_t pixel, std::int64_t pixels, std::int64_t places) {
  const double at = std::clamp(
      (static_cast<double>(pixel) + 0.5) * static_cast<double>(places) / static_cast<double>(pixels) - 0.5,
      0.0, static_cast<double>(places - 1));
  const auto first = static_cast<std::int64_t>(at);
  return {first, std::min(first + 1, places - 1), at - static_cast<double>(first)};
}

}  // namespace

std::vector<std::uint8_t> png(const Picture& picture) {
  require_pixels(picture);
  return pictures::encode_png(picture.pixels, {picture.height, picture.width});
}

std::string data_uri(const Picture& picture) {
  const Bytes exact = png(picture);
  if (picture.channels == kPictureColors) {
    const Bytes small = pictures::encode_jpeg(picture.pixels, {picture.height, picture.width}, kQuality);
    if (2 * small.size() < exact.size()) return "data:image/jpeg;base64," + base64(small);
  }
  return "data:image/png;base64," + base64(exact);
}

Picture contact_sheet(std::span<const Picture> pictures, std::int64_t columns) {
  ensure(!pictures.empty() && columns > 0, "a sheet needs pictures");
  const Picture& first = pictures.front();
  const std::int64_t across = std::min<std::int64_t>(columns, std::ssize(pictures));
  const std::int64_t down = (std::ssize(pictures) + across - 1) / across;
  Picture sheet{
      across * (first.width + kGap) - kGap, down * (first.height + kGap) - kGap, first.channels, {}};
  sheet.pixels.assign(static_cast<std::size_t>(sheet.width * sheet.height * sheet.channels), kGapLevel);
  for (std::int64_t i = 0; i < std::ssize(pictures); ++i) {
    const Picture& picture = pictures[static_cast<std::size_t>(i)];
    ensure(
        picture.width == first.width && picture.height == first.height && picture.channels == first.channels,
        "the pictures of a sheet must have one size");
    require_pixels(picture);
    const std::int64_t left = i % across * (first.width + kGap);
    const std::int64_t top = i / across * (first.height + kGap);
    for (std::int64_t y = 0; y < picture.height; ++y) {
      std::copy_n(picture.pixels.begin() + y * picture.width * picture.channels,
                  picture.width * picture.channels,
                  sheet.pixels.begin() + ((top + y) * sheet.width + left) * sheet.channels);
    }
  }
  return sheet;
}

Picture overlaid(const Picture& picture, const Overlay& map) {
  ensure(map.height > 0 && map.width > 0 && std::ssize(map.values) == map.height * map.width,
         "a map has a value for each place");
  const auto value = [&](std::int64_t y, std::int64_t x) {
    return map.values[static_cast<std::size_t>(y * map.width + x)];
  };
  Picture colored{picture.width, picture.height, 3, {}};
  colored.pixels.reserve(static_cast<std::size_t>(picture.width * picture.height * 3));
  for (std::int64_t y = 0; y < picture.height; ++y) {
    const Between rows = between(y, picture.height, map.height);
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const Between columns = between(x, picture.width, map.width);
      const double above =
          std::lerp(value(rows.first, columns.first), value(rows.first, columns.second), columns.share);
      const double below =
          std::lerp(value(rows.second, columns.first), value(rows.second, columns.second), columns.share);
      const double heat = std::clamp(std::lerp(above, below, rows.share), 0.0, 1.0);
      const std::array<double, 3> color{255, 235 * heat * heat, 30};
      for (std::int64_t c = 0; c < 3; ++c) {
        const std::int64_t from =
            (y * picture.width + x) * picture.channels + (picture.channels == 3 ? c : 0);
        const double pixel = picture.pixels[static_cast<std::size_t>(from)];
        colored.pixels.push_back(static_cast<std::uint8_t>(
            std::lround(std::lerp(pixel, color[static_cast<std::size_t>(c)], kCover * heat))));
      }
    }
  }
  return colored;
}

std::string gallery(std::span<const Figure> figures) {
  std::string html = "<div class=gallery>\n";
  for (const Figure& figure : figures) {
    const auto width = std::lround(figure.scale * static_cast<double>(figure.picture.width));
    const auto height = std::lround(figure.scale * static_cast<double>(figure.picture.height));
    html += fmt::format(  // alt is empty, so that screen readers do not read the caption twice
        "<figure style=\"--w:{}px\"><img src=\"{}\" width={} height={} "
        "alt=\"\"><figcaption>{}</figcaption></figure>\n",
        width, data_uri(figure.picture), width, height, escape(figure.caption));
  }
  return html + "</div>\n";
}

}  // namespace convoke::report
