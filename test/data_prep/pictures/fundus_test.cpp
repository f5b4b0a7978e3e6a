#include "convoke/data_prep/pictures/fundus.hpp"

#include <random>

#include "support/catch.hpp"

using namespace convoke::data_prep;

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

// Red over green over blue, like retinas, with dark vessels.
Image draw(const Drawing& drawing) {
  Image image{drawing.extent.height, drawing.extent.width, drawing.channels, {}};
  std::mt19937 bits(3);
  std::normal_distribution<double> noise(0, drawing.noise);
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
        const double value = light * (1 - 0.3 * static_cast<double>(c)) + noise(bits);
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
    const Placement place = place_fundus(picture, {64, 64});
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
