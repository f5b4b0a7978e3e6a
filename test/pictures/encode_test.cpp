#include "convoke/pictures/encode.hpp"

#include "convoke/pictures/decode.hpp"
#include "support/catch.hpp"
#include "test_pictures.hpp"

using namespace convoke;
using namespace convoke::pictures;

namespace {

// A smooth picture, as photographs are in most places.
Image smooth(std::int64_t channels) {
  Image image{37, 29, channels, {}};
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      for (std::int64_t c = 0; c < channels; ++c)
        image.values.push_back(static_cast<std::uint8_t>(40 + 3 * y + 2 * x + 10 * c));
    }
  }
  return image;
}

Image decoded(const std::vector<std::uint8_t>& encoded, std::int64_t channels) {
  return decode_picture(std::as_bytes(std::span(encoded)), "encoded", channels);
}

}  // namespace

TEST_CASE("an encoded PNG has the same pixels") {
  const std::int64_t channels = GENERATE(1, 3);
  const Image image = smooth(channels);
  const std::vector<std::uint8_t> png = encode_png(image.values, image.extent());
  CHECK(decoded(png, channels).values == image.values);
  CHECK(picture_shape(std::as_bytes(std::span(png)), "png").channels == channels);
  CHECK(png.size() < image.values.size());
}

TEST_CASE("an encoded JPEG has similar pixels, and more similar ones at a higher quality") {
  const std::int64_t channels = GENERATE(1, 3);
  const Image image = smooth(channels);
  const std::vector<std::uint8_t> fine = encode_jpeg(image.values, image.extent(), 95);
  const std::vector<std::uint8_t> coarse = encode_jpeg(image.values, image.extent(), 20);
  CHECK(largest_difference(decoded(fine, channels), image) <= 6);
  CHECK(largest_difference(decoded(coarse, channels), image) >
        largest_difference(decoded(fine, channels), image));
  CHECK(coarse.size() < fine.size());
}
