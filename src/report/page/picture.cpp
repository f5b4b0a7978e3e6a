#include "convoke/report/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/pictures/encode.hpp"
#include "report/page/html.hpp"

namespace convoke::report {
namespace {

constexpr int kQuality = 90;
constexpr std::uint8_t kGap = 128;
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

Picture contact_sheet(std::span<const Picture> pictures, std::int64_t columns, std::int64_t gap) {
  ensure(!pictures.empty() && columns > 0, "a sheet needs pictures");
  const Picture& first = pictures.front();
  const std::int64_t across = std::min<std::int64_t>(columns, std::ssize(pictures));
  const std::int64_t down = (std::ssize(pictures) + across - 1) / across;
  Picture sheet{across * (first.width + gap) - gap, down * (first.height + gap) - gap, first.channels, {}};
  sheet.pixels.assign(static_cast<std::size_t>(sheet.width * sheet.height * sheet.channels), kGap);
  for (std::int64_t i = 0; i < std::ssize(pictures); ++i) {
    const Picture& picture = pictures[static_cast<std::size_t>(i)];
    ensure(
        picture.width == first.width && picture.height == first.height && picture.channels == first.channels,
        "the pictures of a sheet must have one size");
    require_pixels(picture);
    const std::int64_t left = i % across * (first.width + gap);
    const std::int64_t top = i / across * (first.height + gap);
    for (std::int64_t y = 0; y < picture.height; ++y) {
      std::copy_n(picture.pixels.begin() + y * picture.width * picture.channels,
                  picture.width * picture.channels,
                  sheet.pixels.begin() + ((top + y) * sheet.width + left) * sheet.channels);
    }
  }
  return sheet;
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
