#include "convoke/report/picture.hpp"

#include <random>

#include "support/catch.hpp"

using namespace convoke::report;

TEST_CASE("pictures are laid out in rows with a gap") {
  std::vector<Picture> pictures;
  for (std::uint8_t i = 1; i <= 3; ++i) pictures.push_back({2, 1, 1, {i, static_cast<std::uint8_t>(10 * i)}});
  const Picture sheet = contact_sheet(pictures, 2);
  CHECK(sheet.width == 6);
  CHECK(sheet.height == 4);
  CHECK(sheet.pixels == std::vector<std::uint8_t>{1,   10,  128, 128, 2,   20,   //
                                                  128, 128, 128, 128, 128, 128,  //
                                                  128, 128, 128, 128, 128, 128,  //
                                                  3,   30,  128, 128, 128, 128});
}

// All 8-bit gray PNGs of 2 x 2 pixels begin alike: signature and header, whose CRC is zlib.crc32(b"IHDR" +
// struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)) = 0x57dd52f8 in Python.
TEST_CASE("a picture becomes a PNG within the page, also in color if it has few colors") {
  CHECK_THAT(data_uri({2, 2, 1, {0, 255, 255, 0}}),
             StartsWith("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4"));
  CHECK_THAT(data_uri({40, 40, 3, std::vector<std::uint8_t>(4800, 200)}), StartsWith("data:image/png"));
  std::minstd_rand random(1);
  std::vector<std::uint8_t> smooth;  // like a photograph: noise in the lowest bits
  for (std::uint32_t i = 0; i < 96 * 96 * 3; ++i) {
    smooth.push_back(static_cast<std::uint8_t>(100 + i / 288 + random() % 8));
  }
  CHECK_THAT(data_uri({96, 96, 3, smooth}), StartsWith("data:image/jpeg"));
}

TEST_CASE("a figure has its size and caption") {
  const std::vector<Figure> figures{{{2, 1, 1, {0, 9}}, "a & b", 3}};
  CHECK_THAT(gallery(figures), Contains("width=6 height=3") &&
                                   Contains("alt=\"\"><figcaption>a &amp; b</figcaption>") &&
                                   Contains("--w:6px"));
}

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
