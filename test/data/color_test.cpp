#include "data/augment/color.hpp"

#include "golden.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::data;

namespace {

using Step = void (*)(const Planes&, float);

// The square image after `apply`, (H, W, C).
std::vector<float> changed(Step apply, float amount) {
  const golden::Picture picture("square");
  std::vector<float> planes(picture.pixels.size());
  for (std::size_t i = 0; i < planes.size(); ++i) planes[i % 3 * 144 + i / 3] = picture.pixels[i];
  apply({planes.data(), 3, 12, 12}, amount);
  return golden::channels_last(planes, 3);
}

struct Case {
  std::string name;
  Step apply;
  std::vector<float> amounts;
  double tolerance;  ///< in units of pixels
};

}  // namespace

TEST_CASE("changes of color equal Keras's and torchvision's") {
  // Pillow's brightness truncates to whole numbers; all others use floats, or whole numbers on both sides.
  const Case cases[] = {{"brightness", adjust_brightness, {0.5F, 0.9F, 1.7F}, 1},
                        {"channel_shift", shift_channels, {-60, 25.5F}, 1e-4},
                        {"contrast", adjust_contrast, {0.3F, 1.8F}, 1e-3},
                        {"saturation", adjust_saturation, {0, 0.4F, 1.9F}, 1e-3},
                        {"hue", adjust_hue, {-0.5F, -0.13F, 0.3F, 0.5F}, 2e-3},
                        {"sharpness", adjust_sharpness, {0.1F, 1.9F}, 1e-3},
                        {"posterize", posterize, {4, 6}, 0},
                        {"solarize", solarize, {100, 250}, 0},
                        {"autocontrast", autocontrast, {0}, 1e-3},
                        {"equalize", equalize, {0}, 0}};
  for (const Case& test : cases) {
    for (std::size_t i = 0; i < test.amounts.size(); ++i) {
      INFO(test.name << " " << test.amounts[i]);
      CHECK(golden::difference(changed(test.apply, test.amounts[i]), test.name, i) <= test.tolerance);
    }
  }
}

TEST_CASE("a neutral change of color changes nothing") {
  const golden::Picture picture("square");
  for (const Step apply : {adjust_brightness, adjust_contrast, adjust_saturation, adjust_sharpness}) {
    const std::vector<float> same = changed(apply, 1);
    for (std::size_t i = 0; i < same.size(); ++i) CHECK(std::abs(same[i] - picture.pixels[i]) < 1e-4F);
  }
  const std::vector<float> whole_turn = changed(adjust_hue, 0);
  for (std::size_t i = 0; i < whole_turn.size(); ++i)
    CHECK(std::abs(whole_turn[i] - picture.pixels[i]) < 1e-3F);
}

TEST_CASE("saturation and hue do not change gray images; contrast acts about their mean") {
  std::vector<float> gray{10, 20, 60, 30};
  const Planes image{gray.data(), 1, 2, 2};
  adjust_saturation(image, 0.3F);
  adjust_hue(image, 0.3F);
  CHECK(gray == std::vector<float>{10, 20, 60, 30});
  adjust_contrast(image, 0.5F);
  CHECK(gray == std::vector<float>{20, 25, 45, 30});
}

TEST_CASE("autocontrast and equalization do not change a constant image") {
  std::vector<float> even(36, 77);
  autocontrast({even.data(), 1, 6, 6}, 0);
  equalize({even.data(), 1, 6, 6}, 0);
  shift_channels({even.data(), 1, 6, 6}, 40);
  CHECK(even == std::vector<float>(36, 77));
}

TEST_CASE("equalization counts values beyond the range of pixels as its ends") {
  std::vector<float> beyond(1024, -300), within(1024, 0);
  std::fill_n(beyond.begin(), 512, 1e6F);
  std::fill_n(within.begin(), 512, 255.0F);
  equalize({beyond.data(), 1, 32, 32}, 0);
  equalize({within.data(), 1, 32, 32}, 0);
  CHECK(beyond == within);
}
