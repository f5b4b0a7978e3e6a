#include "convoke/data_prep/pictures/fit.hpp"

#include <random>

#include "convoke/pictures/decode.hpp"
#include "pictures/test_pictures.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using convoke::pictures::decode_picture;
using convoke::pictures::read_encoded;
using namespace convoke::data_prep;

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

TEST_CASE("an enlarged part may begin in the middle of a pixel, and the next output before it") {
  Image slope{12, 12, 1, {}};
  for (int i = 0; i < 144; ++i)
    slope.values.push_back(static_cast<std::uint8_t>(10 * (i % 12) + 8 * (i / 12)));
  std::vector<std::uint8_t> out(36);
  resize(slope, {4.25, 4.25, 7.25, 7.25}, {6, 6}, out.data(), 6);
  for (int i = 0; i < 36; ++i) CHECK(out[static_cast<std::size_t>(i)] == 72 + 5 * (i % 6) + 4 * (i / 6));
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
  CHECK(find_fit("letter-box").enough({64, 49}, {32, 32}) == PictureSize{32, 24});  // of 24.5, as Pillow
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

namespace {

/// Parameters of a drawn eye.
struct Drawing {
  PictureSize extent = {300, 400};
  Circle eye = {150, 200, 120};
  double light = 200;  // in the middle; falls to 60 % towards the rim
  double background = 2;
  double noise = 2;    // gray levels, standard deviation
  bool notch = false;  // a tab next to the rim, which some cameras make
  std::int64_t channels = 3;
};

// Returns normal deviates. Their number is prime, so that they do not repeat in columns of a picture.
std::vector<double> normal_deviates() {
  std::mt19937 bits(3);
  std::normal_distribution<double> normal;
  std::vector<double> values(4099);
  for (double& value : values) value = normal(bits);
  return values;
}

// Red over green over blue, like retinas, with dark vessels.
Image draw(const Drawing& drawing) {
  Image image{drawing.extent.height, drawing.extent.width, drawing.channels, {}};
  const std::vector<double> noise = normal_deviates();
  const Circle& eye = drawing.eye;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const double dy = static_cast<double>(y) + 0.5 - eye.y, dx = static_cast<double>(x) + 0.5 - eye.x;
      const double distance = std::hypot(dy, dx) / eye.radius;
      const bool tab = drawing.notch && dx > 0 && distance < 1.08 && std::abs(dy) < 0.12 * eye.radius;
      double light = drawing.background;
      if (distance < 1 || tab) {
        light = drawing.light * (1 - 0.4 * distance * distance);
        if (std::abs(std::sin(7 * distance + 3 * std::atan2(dy, dx))) < 0.1) light *= 0.5;
      }
      for (std::int64_t c = 0; c < image.channels; ++c) {
        const double value = light * (1 - 0.3 * static_cast<double>(c)) +
                             drawing.noise * noise[image.values.size() % noise.size()];
        image.values.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
      }
    }
  }
  return image;
}

void check_found(const Drawing& drawing, double share = 0.02) {
  const std::optional<Circle> found = find_eye(draw(drawing));
  REQUIRE(found);
  const double margin = share * drawing.eye.radius;
  CHECK(found->y == Approx(drawing.eye.y).margin(margin));
  CHECK(found->x == Approx(drawing.eye.x).margin(margin));
  CHECK(found->radius == Approx(drawing.eye.radius).margin(margin));
}

}  // namespace

TEST_CASE("the eye is found where it was drawn") {
  SECTION("in the middle") { check_found({}); }
  SECTION("off center") { check_found({.eye = {110, 265, 95}}); }
  SECTION("small") { check_found({.eye = {200, 90, 50}}); }
  SECTION("cut off at top and bottom") { check_found({.eye = {150, 200, 180}}); }
  SECTION("cut off at the top only") { check_found({.eye = {90, 190, 130}}); }
  SECTION("cut off on three sides") { check_found({.eye = {150, 80, 170}}, 0.04); }
  SECTION("nearly black") { check_found({.light = 22, .background = 1, .noise = 1}, 0.03); }
  SECTION("on a background that is not black") { check_found({.light = 190, .background = 25, .noise = 4}); }
  SECTION("with a notch at the rim") { check_found({.notch = true}); }
  SECTION("in gray") { check_found({.channels = 1}); }
  SECTION("in a large picture") { check_found({.extent = {1000, 1504}, .eye = {510, 760, 470}}); }
  SECTION("upright") { check_found({.extent = {400, 300}, .eye = {190, 160, 120}}); }
}

TEST_CASE("specks and lettering next to the eye do not move it") {
  Drawing drawing;
  Image image = draw(drawing);
  for (std::int64_t y = 5; y < 20; ++y) {
    for (std::int64_t x = 5; x < 70; ++x) image.values[static_cast<std::size_t>((y * 400 + x) * 3)] = 255;
  }
  const std::optional<Circle> found = find_eye(image);
  REQUIRE(found);
  CHECK(found->x == Approx(200).margin(4));
  CHECK(found->y == Approx(150).margin(4));
  CHECK(found->radius == Approx(120).margin(4));
}

TEST_CASE("without a visible eye the middle is taken") {
  const auto middle = [](const Image& picture) {
    const Placement place = find_fit("fundus").place(picture, {64, 64});
    CHECK(place.size == PictureSize{64, 64});
    CHECK(place.from.left == 50);
    CHECK(place.from.right == 350);
  };
  const Drawing black{.light = 3, .background = 1, .noise = 1};
  CHECK_FALSE(find_eye(draw(black)));
  middle(draw(black));
  const Drawing filled{.eye = {150, 200, 600}};  // the eye fills the picture
  CHECK_FALSE(find_eye(draw(filled)));
  middle(draw(filled));
}

TEST_CASE("the sample is the square around the eye, black beyond the picture") {
  const Fit& fit = find_fit("fundus");
  CHECK(fit.usual_size == 256);
  const PictureSize size{100, 100};
  const auto sample_of = [&](const Drawing& drawing) {
    std::vector<std::uint8_t> sample(100 * 100 * 3, 77);
    apply(fit, draw(drawing), size, sample);
    return sample;
  };
  const auto red = [](const std::vector<std::uint8_t>& sample, std::size_t y, std::size_t x) {
    return static_cast<int>(sample[(100 * y + x) * 3]);
  };
  const auto off_center = sample_of({.eye = {110, 265, 95}, .noise = 0});
  CHECK(red(off_center, 50, 3) > 60);  // the rim touches all four sides
  CHECK(red(off_center, 3, 50) > 60);
  CHECK(red(off_center, 50, 96) > 60);
  CHECK(red(off_center, 96, 50) > 60);
  for (const std::size_t y : {2U, 97U}) {
    for (const std::size_t x : {2U, 97U}) CHECK(red(off_center, y, x) < 10);
  }
  // The radius is 180, of which 30 are cut off at the top and at the bottom: 8.3 % of the sample.
  const auto cut = sample_of({.eye = {150, 200, 180}, .background = 30, .noise = 0});
  CHECK(red(cut, 6, 50) == 0);
  CHECK(red(cut, 93, 50) == 0);
  CHECK(red(cut, 10, 50) > 60);
  CHECK(red(cut, 89, 50) > 60);
  CHECK(red(cut, 50, 3) > 60);
  CHECK(red(cut, 50, 96) > 60);
}
