#include "convoke/data_prep/image.hpp"

#include <cstdlib>

#include "idx_files.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

using namespace convoke::data_prep;
using Catch::Contains;

namespace {

const std::filesystem::path kFiles = CONVOKE_TEST_FILES;

// files/make_images.py: 6 x 8 pixels of 20 x + 10 y, 255 - 20 x, 7 x y.
Image example() {
  Image image{6, 8, 3, {}};
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 8; ++x) {
      for (const int value : {20 * x + 10 * y, 255 - 20 * x, x * y * 7 % 256}) {
        image.values.push_back(static_cast<std::uint8_t>(value));
      }
    }
  }
  return image;
}

int largest_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  REQUIRE(a.size() == b.size());
  int largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

TEST_CASE("lossless images are decoded exactly, with the channels asked for") {
  const Image expected = example();
  for (const char* name : {"rgb.png", "rgb.bmp", "alpha.png"}) {
    const Image image = decode_image(kFiles / name, 3);
    CHECK(image.height == 6);
    CHECK(image.width == 8);
    CHECK(image.channels == 3);
    CHECK(image.values == expected.values);
  }
  const Image alpha = decode_image(kFiles / "alpha.png", 4);
  REQUIRE(alpha.values.size() == 6 * 8 * 4);
  for (std::size_t i = 3; i < alpha.values.size(); i += 4) CHECK(alpha.values[i] == 100);

  const Image grey = decode_image(kFiles / "rgb.png", 1);
  REQUIRE(grey.values.size() == 48);
  for (std::size_t p = 0; p < 48; ++p) {
    const double luma = 0.299 * expected.values[3 * p] + 0.587 * expected.values[3 * p + 1] +
                        0.114 * expected.values[3 * p + 2];
    CHECK(grey.values[p] == Catch::Approx(luma).margin(1.5));
  }
}

TEST_CASE("JPEG is decoded as Pillow does, to rounding") {
  const Image image = decode_image(kFiles / "smooth.jpg", 3);
  CHECK(image.height == 48);
  CHECK(image.width == 64);
  // np.asarray(Image.open("smooth.jpg"))[24, ::9]
  const std::vector<std::uint8_t> expected{0,  255, 51, 5,  250, 49, 15, 242, 51, 24, 232, 50,
                                           33, 223, 51, 42, 214, 50, 52, 206, 50, 55, 199, 50};
  std::vector<std::uint8_t> found;
  for (std::size_t x = 0; x < 64; x += 9) {
    for (std::size_t c = 0; c < 3; ++c) found.push_back(image.values[(24 * 64 + x) * 3 + c]);
  }
  CHECK(largest_difference(found, expected) <= 3);
}

TEST_CASE("what is no readable image is refused, with file and reason") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of([&] { decode_image(folder / "none.png", 3); }),
             Contains("none.png: cannot be opened: No such file or directory"));
  CHECK_THAT(error_of([&] { decode_image(folder.path(), 3); }), Contains("is a folder, no image"));
  write_file(folder / "text.png", "this is no image, whatever its name says");
  CHECK_THAT(error_of([&] { decode_image(folder / "text.png", 3); }),
             Contains("text.png: cannot be decoded: "));
  write_file(folder / "empty.png", "");
  CHECK_THAT(error_of([&] { decode_image(folder / "empty.png", 3); }),
             Contains("empty.png: cannot be decoded: "));
  const std::string png = read_file(kFiles / "rgb.png");
  write_file(folder / "cut.png", png.substr(0, png.size() / 2));
  CHECK_THAT(error_of([&] { decode_image(folder / "cut.png", 3); }),
             Contains("cut.png: cannot be decoded: "));
  const std::string jpeg = read_file(kFiles / "smooth.jpg");
  write_file(folder / "cut.jpg", jpeg.substr(0, jpeg.size() - 30));
  CHECK_THAT(error_of([&] { decode_image(folder / "cut.jpg", 3); }), Contains("the JPEG is truncated"));
}

TEST_CASE("images are resized as Pillow's BILINEAR does, to rounding") {
  // Image.fromarray(rgb).resize((width, height), Image.BILINEAR), see files/make_images.py
  const Image image = example();
  const auto check = [&](std::int64_t height, std::int64_t width, const std::vector<std::uint8_t>& expected) {
    const Image resized = resize(image, height, width);
    CHECK(resized.height == height);
    CHECK(resized.width == width);
    CHECK(largest_difference(resized.values, expected) <= 1);
  };
  check(4, 3, {26, 233, 3,  74,  185, 9,  122, 137, 15,  40, 233, 14, 88,  185, 44,  136, 137, 74,
               54, 233, 25, 102, 185, 79, 150, 137, 133, 68, 233, 36, 116, 185, 114, 164, 137, 191});
  check(9, 13,
        {0,   255, 0,   8,   247, 0,   21,  234, 0,   33,  222, 0,   45,  210, 0,   58,  197, 0,   70,  185,
         0,   82,  173, 0,   95,  160, 0,   107, 148, 0,   119, 136, 0,   132, 123, 0,   140, 115, 0,   5,
         255, 0,   13,  247, 2,   26,  234, 4,   38,  222, 6,   50,  210, 8,   63,  197, 10,  75,  185, 13,
         87,  173, 15,  100, 160, 17,  112, 148, 19,  124, 136, 21,  137, 123, 23,  145, 115, 25,  12,  255,
         0,   20,  247, 4,   33,  234, 8,   45,  222, 14,  57,  210, 19,  70,  197, 23,  82,  185, 29,  94,
         173, 34,  107, 160, 39,  119, 148, 43,  131, 136, 49,  144, 123, 54,  152, 115, 57,  18,  255, 0,
         26,  247, 5,   39,  234, 14,  51,  222, 21,  63,  210, 29,  76,  197, 37,  88,  185, 45,  100, 173,
         53,  113, 160, 60,  125, 148, 69,  137, 136, 76,  150, 123, 84,  158, 115, 90,  25,  255, 0,   33,
         247, 8,   46,  234, 19,  58,  222, 29,  70,  210, 40,  83,  197, 51,  95,  185, 62,  107, 173, 72,
         120, 160, 83,  132, 148, 94,  144, 136, 104, 157, 123, 115, 165, 115, 123, 32,  255, 0,   40,  247,
         10,  53,  234, 23,  65,  222, 37,  77,  210, 51,  90,  197, 64,  102, 185, 78,  114, 173, 91,  127,
         160, 105, 139, 148, 118, 151, 136, 132, 164, 123, 146, 172, 115, 155, 38,  255, 0,   46,  247, 11,
         59,  234, 28,  71,  222, 44,  83,  210, 61,  96,  197, 78,  108, 185, 94,  120, 173, 110, 133, 160,
         126, 145, 148, 144, 157, 136, 160, 170, 123, 176, 178, 115, 188, 45,  255, 0,   53,  247, 14,  66,
         234, 33,  78,  222, 52,  90,  210, 72,  103, 197, 91,  115, 185, 111, 127, 173, 130, 140, 160, 149,
         152, 148, 169, 164, 136, 188, 177, 123, 207, 185, 115, 221, 50,  255, 0,   58,  247, 15,  71,  234,
         36,  83,  222, 58,  95,  210, 79,  108, 197, 101, 120, 185, 123, 132, 173, 144, 145, 160, 166, 157,
         148, 187, 169, 136, 209, 182, 123, 230, 190, 115, 245});
  check(2, 8, {13,  255, 0,   33,  235, 9,   53,  215, 18,  73,  195, 26,  93,  175, 35,  113,
               155, 44,  133, 135, 53,  153, 115, 61,  38,  255, 0,   58,  235, 26,  78,  215,
               53,  98,  195, 79,  118, 175, 105, 138, 155, 131, 158, 135, 158, 178, 115, 184});
  check(1, 1, {95, 185, 62});
  CHECK(resize(image, 6, 8).values == image.values);
}
