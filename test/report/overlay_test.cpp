#include "convoke/report/overlay.hpp"

#include "support/catch.hpp"

using namespace convoke::report;

TEST_CASE("a heat map is interpolated between the centers of its places") {
  // Two places over four pixels: their centers are at 1 and 3, the pixels' at 0.5, 1.5, 2.5 and 3.5.
  const Picture picture{4, 1, 1, {0, 0, 0, 0}};
  const Picture hot = overlaid(picture, {1, 2, {0, 1}});
  REQUIRE(hot.channels == 3);
  REQUIRE(hot.pixels.size() == 12);
  // Red is 0.65 heat * 255, for heat 0, 1/4, 3/4, 1.
  CHECK(hot.pixels[0] == 0);
  CHECK(hot.pixels[3] == 41);
  CHECK(hot.pixels[6] == 124);
  CHECK(hot.pixels[9] == 166);
}

TEST_CASE("a heat map of zeros leaves the colors of a picture as they are") {
  const Picture colors{1, 2, 3, {1, 2, 3, 250, 251, 252}};
  CHECK(overlaid(colors, {1, 1, {0}}).pixels == colors.pixels);
  const Picture gray{1, 2, 1, {7, 200}};
  CHECK(overlaid(gray, {1, 1, {0}}).pixels == std::vector<std::uint8_t>{7, 7, 7, 200, 200, 200});
}
