#include "convoke/data_prep/pictures/fit.hpp"

#include "convoke/pictures/decode.hpp"
#include "pictures/test_pictures.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::data_prep;
using convoke::pictures::decode_picture;
using convoke::pictures::read_encoded;

namespace {

Image read(const std::filesystem::path& file, std::int64_t channels) {
  return decode_picture(read_encoded(file), file.string(), channels);
}

Image fitted(const char* fit, const Image& picture, const PictureSize& size) {
  Image sample{size.height, size.width, picture.channels, {}};
  sample.values.resize(static_cast<std::size_t>(size.height * size.width * picture.channels), 77);
  apply(find_fit(fit), picture, size, sample.values);
  return sample;
}

}  // namespace

TEST_CASE("pictures are fitted as in Pillow: area down, bicubic up, each axis separately") {
  const Image picture = read(kPictures / "large.png", 3);  // 60 x 80
  struct Case {
    const char* fit;
    PictureSize size;
  };
  for (const Case& c :
       {Case{"area", {15, 20}}, Case{"area", {7, 80}}, Case{"area", {23, 31}}, Case{"area", {59, 79}},
        Case{"area", {1, 1}}, Case{"area", {97, 150}}, Case{"area", {61, 200}}, Case{"area", {20, 200}},
        Case{"crop", {20, 20}}, Case{"crop", {30, 10}}, Case{"crop", {90, 90}}, Case{"letter-box", {40, 40}},
        Case{"letter-box", {60, 20}}, Case{"letter-box", {100, 100}}, Case{"letter-box", {61, 91}}}) {
    INFO(c.fit << " " << c.size.height << " x " << c.size.width);
    const std::string name = std::string(c.fit) + "_" + std::to_string(c.size.height) + "x" +
                             std::to_string(c.size.width) + ".png";
    CHECK(largest_difference(fitted(c.fit, picture, c.size), read(kPictures / "expected" / name, 3)) <= 1);
    // A single channel gives the same as each of three.
    Image red{60, 80, 1, {}}, expected{c.size.height, c.size.width, 1, {}};
    const Image all = fitted(c.fit, picture, c.size);
    for (std::size_t i = 0; i < picture.values.size(); i += 3) red.values.push_back(picture.values[i]);
    for (std::size_t i = 0; i < all.values.size(); i += 3) expected.values.push_back(all.values[i]);
    CHECK(fitted(c.fit, red, c.size).values == expected.values);
  }
}

TEST_CASE("a part of an image is resized as if it were an image, even between pixels") {
  const Image picture = read(kPictures / "large.png", 1);  // 60 x 80
  // Means over areas, computed pixel by pixel.
  const Box box{2.25, 3.5, 58.75, 71.125};
  const PictureSize size{9, 11};
  std::vector<std::uint8_t> out(static_cast<std::size_t>(size.height * size.width));
  resize(picture, box, size, out.data(), size.width);
  const double dy = (box.bottom - box.top) / 9, dx = (box.right - box.left) / 11;
  for (int v = 0; v < 9; ++v) {
    for (int u = 0; u < 11; ++u) {
      double sum = 0, area = 0;
      for (int y = 0; y < 60; ++y) {
        for (int x = 0; x < 80; ++x) {
          const double h = std::min(box.top + (v + 1) * dy, y + 1.0) - std::max(box.top + v * dy, y + 0.0);
          const double w = std::min(box.left + (u + 1) * dx, x + 1.0) - std::max(box.left + u * dx, x + 0.0);
          if (h <= 0 || w <= 0) continue;
          sum += h * w * picture.values[static_cast<std::size_t>(80 * y + x)];
          area += h * w;
        }
      }
      CHECK(out[static_cast<std::size_t>(11 * v + u)] == Approx(sum / area).margin(0.51));
    }
  }
}

TEST_CASE("a picture that already has the size is stored unchanged by every fit") {
  const Image picture = read(kPictures / "large.png", 3);
  for (const std::string& fit : fit_names())
    CHECK(fitted(fit.c_str(), picture, {60, 80}).values == picture.values);
}

TEST_CASE("reducing a picture while decoding leaves enough for the fit") {
  const PictureSize picture{1200, 1600};
  CHECK(find_fit("area").enough(picture, {224, 224}) == PictureSize{224, 224});
  CHECK(find_fit("crop").enough(picture, {224, 224}) == PictureSize{224, 299});
  CHECK(find_fit("letter-box").enough(picture, {224, 224}) == PictureSize{168, 224});
  CHECK(find_fit("fundus").enough(picture, {256, 256}) == PictureSize{512, 512});
}

TEST_CASE("pictures of one pixel are fitted, and pictures are fitted to one pixel") {
  const Image one{1, 1, 3, {200, 30, 60}};
  for (const std::string& fit : fit_names()) {
    const Image sample = fitted(fit.c_str(), one, {5, 5});
    for (std::size_t i = 0; i < sample.values.size(); ++i) CHECK(sample.values[i] == one.values[i % 3]);
    CHECK(fitted(fit.c_str(), read(kPictures / "large.png", 3), {1, 1}).values.size() == 3);
  }
  const Image line{1, 300, 1, std::vector<std::uint8_t>(300, 9)};
  for (const std::string& fit : fit_names()) {
    const Image sample = fitted(fit.c_str(), line, {8, 8});
    CHECK(*std::max_element(sample.values.begin(), sample.values.end()) == 9);
  }
}

TEST_CASE("an unknown fit is refused, listing the known ones") {
  CHECK_THAT(error_of([] { find_fit("squeeze"); }), Contains("unknown fit \"squeeze\""));
}
