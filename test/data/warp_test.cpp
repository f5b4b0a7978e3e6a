#include "convoke/data/warp.hpp"

#include "golden.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::data;

namespace {

constexpr float kOnes[] = {1, 1, 1, 1, 1};
constexpr float kZeros[] = {0, 0, 0, 0, 0};

template <class T>
std::vector<float> warped(const ImageView<T>& image, const AffineMap& map, const Fill& fill) {
  std::vector<float> planes(static_cast<std::size_t>(image.height * image.width * image.channels));
  warp(image, map, fill, {kOnes, kZeros}, image.height, image.width, planes.data());
  return golden::channels_last(planes, static_cast<std::size_t>(image.channels));
}

std::vector<AffineTransform> transforms() {
  std::vector<AffineTransform> all;
  const std::vector<float> rows = golden::values("transforms");
  for (std::size_t i = 0; i < rows.size(); i += 6) {
    const auto number = [&](std::size_t k) { return static_cast<double>(rows[i + k]); };
    all.push_back({number(0), number(1), number(2), number(3), number(4), number(5)});
  }
  return all;
}

// Computes one number after the other, in double, by the definition.
double reference(const ImageView<std::uint8_t>& image, double y, double x, std::int64_t channel,
                 const Fill& fill) {
  const auto into_range = [&](double t, double n) {
    if (fill.mode == FillMode::kReflect) {
      t = std::fmod(std::fmod(t + 0.5, 2 * n) + 2 * n, 2 * n);
      t = (t > n ? 2 * n - t : t) - 0.5;
    }
    if (fill.mode == FillMode::kWrap && n > 1) {
      while (t < 0) t += n - 1;
      while (t > n - 1) t -= n - 1;
    }
    return std::clamp(t, 0.0, n - 1);
  };
  const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
  const bool outside = y < 0 || y > height - 1 || x < 0 || x > width - 1;
  if (fill.mode == FillMode::kConstant && outside) return static_cast<double>(fill.value);
  y = into_range(y, height);
  x = into_range(x, width);
  const auto at = [&](double row, double column) {
    const auto r = std::min(static_cast<std::int64_t>(row), image.height - 1);
    const auto c = std::min(static_cast<std::int64_t>(column), image.width - 1);
    return static_cast<double>(image.pixels[(r * image.width + c) * image.channels + channel]);
  };
  const double top = std::floor(y), left = std::floor(x), down = y - top, right = x - left;
  return (1 - down) * ((1 - right) * at(top, left) + right * at(top, left + 1)) +
         down * ((1 - right) * at(top + 1, left) + right * at(top + 1, left + 1));
}

constexpr FillMode kModes[] = {FillMode::kNearest, FillMode::kConstant, FillMode::kReflect, FillMode::kWrap};

}  // namespace

TEST_CASE("affine maps and fill modes equal Keras's") {
  const golden::Picture picture("square");
  const std::vector<AffineTransform> all = transforms();
  REQUIRE(all.size() == 8);
  for (const FillMode mode : kModes) {
    const std::string name = "affine/" + std::string(name_of(mode));
    for (std::size_t i = 0; i < all.size(); ++i) {
      INFO(name << " " << i);
      const std::vector<float> out = warped(picture.view, affine_map(all[i], 12, 12), {mode, 37});
      CHECK(golden::difference(out, name, i) < 5e-3);
    }
  }
}

TEST_CASE("images that are not square turn about their own center") {
  const golden::Picture picture("wide");
  const std::vector<AffineTransform> all = transforms();
  for (const FillMode mode : kModes) {
    const std::string name = "affine_wide/" + std::string(name_of(mode));
    for (std::size_t i = 0; i < all.size(); ++i) {
      INFO(name << " " << i);
      const std::vector<float> out = warped(picture.view, affine_map(all[i], 9, 14), {mode, 37});
      CHECK(golden::difference(out, name, i) < 5e-3);
    }
  }
}

TEST_CASE("a stretched part equals torchvision's, except at the border") {
  const golden::Picture picture("square");
  const std::vector<float> out = warped(picture.view, crop({3, 2, 6, 5}, 12, 12), {});
  const std::vector<float> expected = golden::values("resized_crop");
  for (std::size_t y = 1; y < 11; ++y) {
    for (std::size_t x = 1; x < 11; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t i = (y * 12 + x) * 3 + c;
        CHECK(std::abs(out[i] - expected[i]) < 5e-3F);
      }
    }
  }
}

TEST_CASE("a warp of any size, of bytes and of floats, equals the reference") {
  const AffineMap map =
      affine_map({.theta = 23, .tx = 2.25, .ty = -1.5, .shear = 8, .zx = 1.1, .zy = 0.9}, 7, 9);
  for (const auto& [height, width, channels] : {std::array<std::int64_t, 3>{1, 1, 3},
                                                {1, 2, 3},
                                                {2, 1, 3},
                                                {1, 300, 1},
                                                {300, 2, 3},
                                                {5, 300, 3},
                                                {7, 9, 1},
                                                {7, 9, 2},
                                                {7, 9, 3},
                                                {7, 9, 4}}) {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(height * width * channels));
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 89 + i / 7);
    const std::vector<float> numbers(pixels.begin(), pixels.end());
    const ImageView<std::uint8_t> image{pixels.data(), height, width, channels};
    for (const FillMode mode : kModes) {
      if (mode == FillMode::kWrap && (height < 3 || width < 3)) continue;  // jumps within a pixel
      const Fill fill{mode, 11};
      const std::vector<float> out = warped(image, map, fill);
      const std::vector<float> of_floats =
          warped(ImageView<float>{numbers.data(), height, width, channels}, map, fill);
      double worst = 0;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const auto channel = static_cast<std::int64_t>(i) % channels,
                   p = static_cast<std::int64_t>(i) / channels;
        const auto y = static_cast<double>(p / width), x = static_cast<double>(p % width);
        const double expected = reference(image, map.yy * y + map.yx * x + map.y0,
                                          map.xy * y + map.xx * x + map.x0, channel, fill);
        worst = std::max(worst, std::abs(static_cast<double>(out[i]) - expected));
      }
      INFO(height << "x" << width << "x" << channels << " " << name_of(mode));
      CHECK(worst < 0.05);  // coordinates of up to 300 in single precision, 255 a pixel
      for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::abs(out[i] - of_floats[i]) <= 1e-4F);
    }
  }
}

TEST_CASE("whole pixels are exact, and flips are their own inverse") {
  const golden::Picture picture("square");
  const std::vector<float> flipped = warped(picture.view, horizontal_flip(12), {});
  const std::vector<float> upside = warped(picture.view, vertical_flip(12), {});
  const std::vector<float> twice = warped(picture.view, horizontal_flip(12) * horizontal_flip(12), {});
  const std::vector<float> moved = warped(picture.view, {.y0 = 4, .x0 = -3}, {FillMode::kConstant, 0});
  for (std::size_t y = 0; y < 12; ++y) {
    for (std::size_t x = 0; x < 12; ++x) {
      const auto pixel = [&](std::size_t row, std::size_t column) {
        return static_cast<float>(picture.pixels[(row * 12 + column) * 3 + 1]);
      };
      const std::size_t i = (y * 12 + x) * 3 + 1;
      CHECK(flipped[i] == pixel(y, 11 - x));
      CHECK(upside[i] == pixel(11 - y, x));
      CHECK(twice[i] == pixel(y, x));
      CHECK(moved[i] == (y + 4 < 12 && x >= 3 ? pixel(y + 4, x - 3) : 0));
    }
  }
}

TEST_CASE("a warp applies the tone as it writes") {
  const golden::Picture picture("square");
  const AffineMap map = affine_map({.theta = 10}, 12, 12);
  const float scale[] = {0.5F, 2, 1}, shift[] = {1, -1, 0};
  std::vector<float> toned(12 * 12 * 3);
  warp(picture.view, map, {}, {scale, shift, 1.5F, 255}, 12, 12, toned.data());
  toned = golden::channels_last(toned, 3);
  const std::vector<float> plain = warped(picture.view, map, {});
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const float expected = scale[i % 3] * std::min(1.5F * plain[i], 255.0F) + shift[i % 3];
    CHECK(std::abs(toned[i] - expected) < 1e-3F);
  }
}

TEST_CASE("maps compose from the right") {
  const AffineMap a{.yy = 2, .yx = 1, .y0 = 3, .xy = 0.5, .xx = -1, .x0 = 4};
  const AffineMap b{.yy = -1, .yx = 0.25, .y0 = 1, .xy = 3, .xx = 2, .x0 = -2};
  const AffineMap both = a * b;
  const double y = 5, x = 7;
  const double by = b.yy * y + b.yx * x + b.y0, bx = b.xy * y + b.xx * x + b.x0;
  CHECK(both.yy * y + both.yx * x + both.y0 == Approx(a.yy * by + a.yx * bx + a.y0));
  CHECK(both.xy * y + both.xx * x + both.x0 == Approx(a.xy * by + a.xx * bx + a.x0));
}

TEST_CASE("fill modes have names") {
  for (const FillMode mode : kModes) CHECK(fill_mode_from(name_of(mode)) == mode);
  CHECK_THAT(error_of([] { fill_mode_from("refect"); }), Contains("did you mean \"reflect\"?"));
}
