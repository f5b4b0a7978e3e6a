#include "convoke/pictures/decode.hpp"

#include "convoke/pictures/encode.hpp"
#include "data_prep/idx_files.hpp"
#include "pictures/jpeg.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "test_pictures.hpp"

using namespace convoke;
using namespace convoke::pictures;

namespace {

Image decode(const fs::path& file, std::int64_t channels) {
  return decode_picture(read_encoded(file), file.filename().string(), channels);
}

std::string error_in(const std::string& name, const std::string& bytes) {
  const TemporaryFolder folder;
  write_file(folder / name, bytes);
  return error_of([&] { decode(folder / name, 3); });
}

// Pillow's result: see files/pictures/make_pictures.py.
Image expected(const std::string& name, std::int64_t channels) {
  const char* const kind = channels == 1 ? ".gray.png" : ".rgb.png";
  return decode(kPictures / "expected" / (name + kind), channels);
}

std::string png_bytes() { return bytes_of(kPictures / "rgba.png"); }
std::string jpeg_bytes() { return bytes_of(kPictures / "baseline.jpg"); }

// Returns the header of a PNG of that size, without pixels.
std::string png_of(std::uint32_t height, std::uint32_t width) {
  const auto number = [](std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
    return bytes;
  };
  const auto chunk = [&](const std::string& kind, const std::string& data) {
    const std::string body = kind + data;
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<unsigned>(body.size()));
    return number(static_cast<std::uint32_t>(data.size())) + body + number(static_cast<std::uint32_t>(sum));
  };
  return "\x89PNG\r\n\x1A\n" +
         chunk("IHDR", number(width) + number(height) + std::string("\x08\x02\0\0\0", 5)) +
         chunk("IDAT", "") + chunk("IEND", "");
}

}  // namespace

TEST_CASE("a lossless picture has the pixels that were stored") {
  // files/make_images.py: 6 x 8 pixels of 20 x + 10 y, 255 - 20 x, 7 x y.
  std::vector<std::uint8_t> values;
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 8; ++x) {
      for (const int value : {20 * x + 10 * y, 255 - 20 * x, x * y * 7 % 256}) {
        values.push_back(static_cast<std::uint8_t>(value));
      }
    }
  }
  for (const char* name : {"rgb.png", "rgb.bmp", "alpha.png"}) {
    const Image image = decode(kPictures.parent_path() / name, 3);
    CHECK(image.extent() == PictureSize{6, 8});
    CHECK(image.channels == 3);
    CHECK(image.values == values);
  }
}

TEST_CASE("every kind of PNG and BMP becomes gray and RGB as in Pillow") {
  for (const char* name :
       {"deep_rgb.png", "deep_rgba.png", "deep_gray_alpha.png", "deep_gray.png", "gray.png", "gray_alpha.png",
        "bits.png", "palette.png", "palette_transparent.png", "opaque.png", "rgba.png", "rgb_transparent.png",
        "rgb.bmp", "gray.bmp", "palette.bmp", "bits.bmp", "one.png", "exif6.png"}) {
    INFO(name);
    CHECK(decode(kPictures / name, 3).values == expected(name, 3).values);
    CHECK(decode(kPictures / name, 1).values == expected(name, 1).values);
  }
}

TEST_CASE("an OS/2 BMP may be shorter than other headers; the rows of a BMP may begin at the top") {
  const TemporaryFolder folder;
  const std::string header("BM\36\0\0\0\0\0\0\0\32\0\0\0\14\0\0\0\1\0\1\0\1\0\30\0", 26);
  write_file(folder / "one.bmp", header + std::string("\3\2\1\0", 4));  // blue, green, red, padding
  CHECK(decode(folder / "one.bmp", 3).values == std::vector<std::uint8_t>{1, 2, 3});
  CHECK_THAT(error_in("short.bmp", header.substr(0, 25)), Contains("truncated"));
  std::string palette = header + std::string(800, '\0');  // stb_image loses its last colors
  palette[24] = 8;
  CHECK_THAT(error_in("palette.bmp", palette), Contains("has a palette of OS/2"));
  std::string rows("BM\76\0\0\0\0\0\0\0\66\0\0\0\50\0\0\0\1\0\0\0\376\377\377\377\1\0\30\0", 30);
  rows.resize(54, '\0');
  write_file(folder / "down.bmp", rows + std::string("\3\2\1\0\6\5\4\0", 8));
  CHECK(decode(folder / "down.bmp", 3).values == std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("every kind of JPEG becomes gray and RGB as in Pillow, up to rounding, and upright") {
  for (const char* name :
       {"baseline.jpg", "progressive.jpg", "full_chroma.jpg", "gray.jpg", "cmyk.jpg", "one.jpg", "exif1.jpg",
        "exif2.jpg", "exif3.jpg", "exif4.jpg", "exif5.jpg", "exif6.jpg", "exif7.jpg", "exif8.jpg"}) {
    INFO(name);
    CHECK(largest_difference(decode(kPictures / name, 3), expected(name, 3)) <= 3);
    CHECK(largest_difference(decode(kPictures / name, 1), expected(name, 1)) <= 3);
  }
  // Some cameras store the orientation as LONG, in 4 bytes.
  const TemporaryFolder folder;
  std::string bytes = bytes_of(kPictures / "exif6.jpg");
  bytes[0x2B] = 4;
  std::swap(bytes[0x31], bytes[0x33]);
  write_file(folder / "long.jpg", bytes);
  CHECK(decode(folder / "long.jpg", 3).values == decode(kPictures / "exif6.jpg", 3).values);
  // The first of two Exif segments counts, as in Pillow.
  const std::string kExif = "\xFF\xE1", upright = bytes_of(kPictures / "exif1.jpg");
  const auto segment = [&](const std::string& file) {
    const std::size_t at = file.find(kExif);
    return file.substr(
        at, 2 + 256 * static_cast<unsigned char>(file[at + 2]) + static_cast<unsigned char>(file[at + 3]));
  };
  bytes = bytes_of(kPictures / "exif6.jpg");
  bytes.insert(bytes.find(kExif) + segment(bytes).size(), segment(upright));
  write_file(folder / "two.jpg", bytes);
  CHECK(decode(folder / "two.jpg", 3).values == decode(kPictures / "exif6.jpg", 3).values);
}

TEST_CASE("the shape of a picture is known before it is decoded") {
  const auto shape = [](const char* name) { return picture_shape(read_encoded(kPictures / name), name); };
  CHECK(shape("baseline.jpg").extent == PictureSize{39, 54});
  CHECK(shape("exif3.jpg").extent == PictureSize{39, 54});
  CHECK(shape("exif6.jpg").extent == PictureSize{54, 39});
  CHECK(shape("exif6.png").extent == PictureSize{18, 13});
  CHECK(shape("rgb.bmp").extent == PictureSize{13, 18});
  for (const char* name : {"gray.png", "gray_alpha.png", "bits.png", "gray.jpg", "deep_gray.png"}) {
    INFO(name);
    CHECK(shape(name).channels == 1);
  }
  for (const char* name : {"rgba.png", "palette.png", "cmyk.jpg", "baseline.jpg", "rgb.bmp"}) {
    INFO(name);
    CHECK(shape(name).channels == 3);
  }
}

TEST_CASE("a JPEG is reduced, by the mean of its pixels, if a smaller picture is enough") {
  const Image whole = decode(kPictures / "baseline.jpg", 3);  // 39 x 54
  const auto encoded = read_encoded(kPictures / "baseline.jpg");
  const auto extent_for = [&](const PictureSize& enough) {
    return decode_picture(encoded, "a", 3, enough).extent();
  };
  const bool scales = extent_for({1, 1}) != whole.extent();  // false with stb_image
  if (!scales) return;
  CHECK(extent_for({1, 1}) == PictureSize{5, 7});
  CHECK(extent_for({4, 6}) == PictureSize{5, 7});
  CHECK(extent_for({5, 6}) == PictureSize{10, 14});  // 39 / 8 is less than 5
  CHECK(extent_for({19, 27}) == PictureSize{20, 27});
  CHECK(extent_for({20, 1}) == PictureSize{39, 54});
  // `enough` is the size after EXIF has turned the picture upright.
  CHECK(decode_picture(read_encoded(kPictures / "exif6.jpg"), "a", 3, {6, 4}).extent() == PictureSize{7, 5});
  CHECK(decode_picture(read_encoded(kPictures / "exif6.jpg"), "a", 3, {6, 5}).extent() ==
        PictureSize{14, 10});

  const Image half = decode_picture(encoded, "a", 3, {19, 27});
  CHECK(half.content().bottom == 19.5);
  for (std::int64_t y = 0; y < 19; ++y) {
    for (std::int64_t x = 0; x < 27 * 3; ++x) {
      const auto at = [&](std::int64_t row, std::int64_t column) {
        return whole
            .values[static_cast<std::size_t>(((2 * y + row) * 54 + 2 * (x / 3) + column) * 3 + x % 3)];
      };
      const double mean = (at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1)) / 4.0;
      CHECK(half.values[static_cast<std::size_t>(y * 81 + x)] == Approx(mean).margin(8));
    }
  }
}

TEST_CASE("an unreadable picture is refused, with file and reason") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of([&] { decode(folder / "none.png", 3); }),
             Contains("none.png: cannot be opened: No such file or directory"));
  CHECK_THAT(error_of([&] { decode(folder.path(), 3); }), Contains("is a folder, not a picture"));
  CHECK_THAT(error_in("text.png", "this is not an image"),
             Contains("text.png: cannot be decoded: it is not a JPEG, PNG or BMP"));
  CHECK_THAT(error_in("empty.png", ""), Contains("empty.png: cannot be decoded: the file is empty"));
  CHECK_THAT(error_in("short.jpg", "\xFF\xD8\xFF"), Contains("the JPEG is truncated"));
}

TEST_CASE("a picture truncated at any place is refused") {
  for (const char* name :
       {"rgba.png", "baseline.jpg", "progressive.jpg", "rgb.bmp", "palette.bmp", "bits.bmp"}) {
    const std::string whole = bytes_of(kPictures / name);
    REQUIRE(error_in(name, whole).empty());
    for (std::size_t bytes = 4; bytes + 3 < whole.size(); bytes += 1 + whole.size() / 23) {
      INFO(name << " " << bytes);
      CHECK_THAT(error_in(name, whole.substr(0, bytes)),
                 Contains("is truncated") || Contains("cannot be decoded"));
    }
  }
}

TEST_CASE("a damaged picture is refused") {
  std::string png = png_bytes();
  png[png.size() / 2] = static_cast<char>(png[png.size() / 2] ^ 1);
  CHECK_THAT(error_in("a.png", png),
             Contains("a.png: cannot be decoded: the checksum of the PNG's chunk IDAT"));
  std::string bmp = bytes_of(kPictures / "rgb.bmp");
  bmp[30] = 1;
  CHECK_THAT(error_in("a.bmp", bmp), Contains("the BMP is run-length encoded"));
  // Pixels are missing in the middle: the end marker is there, but the rest of the scan is not.
  std::string jpeg = jpeg_bytes();
  jpeg.erase(jpeg.size() - 300, 290);
  if (decode_picture(read_encoded(kPictures / "baseline.jpg"), "a", 3, {1, 1}).height == 5) {  // libjpeg only
    CHECK_THAT(error_in("a.jpg", jpeg), Contains("a.jpg: cannot be decoded: "));
  }
}

TEST_CASE("a JPEG whose rows do not fit into the memory that its header asked for is refused") {
  if (!has_libjpeg()) return;
  const std::string bytes = jpeg_bytes();
  const std::span encoded(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const PictureHeader right = read_header(encoded, "a.jpg");
  CHECK(decode_jpeg(encoded, right, right.stored, "a.jpg").extent() == right.stored);
  PictureHeader wrong = right;
  SECTION("too few rows") { wrong.stored.height /= 2; }
  SECTION("too few columns") { wrong.stored.width -= 1; }
  CHECK_THAT(error_of([&] { decode_jpeg(encoded, wrong, wrong.stored, "a.jpg"); }),
             Contains("a.jpg: cannot be decoded: it has") && Contains("but its header gave"));
}

TEST_CASE("a picture that is too large is refused before it is decoded, with the limit") {
  CHECK_THAT(error_in("a.png", png_of(20'000, 20'000)),
             Contains("a.png: is too large, 20000 x 20000 pixels: the limit is 20,000 per side and "
                      "178,956,970 in total"));
  CHECK_THAT(error_in("a.png", png_of(1, 20'001)), Contains("is too large, 1 x 20001 pixels"));
  CHECK_THAT(error_in("a.png", png_of(0x7FFFFFFF, 0x7FFFFFFF)), Contains("is too large"));
  CHECK_THAT(error_in("a.png", png_of(0, 5)), Contains("the header of the PNG gives 0 x 5 pixels"));
  std::string jpeg = jpeg_bytes();
  const std::size_t frame = jpeg.find("\xFF\xC0");
  REQUIRE(frame != std::string::npos);
  jpeg.replace(frame + 5, 4, "\xFF\xFF\xFF\xFF");
  CHECK_THAT(error_in("a.jpg", jpeg), Contains("is too large, 65535 x 65535 pixels"));
}

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
