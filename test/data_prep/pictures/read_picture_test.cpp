#include "convoke/data_prep/pictures/read_picture.hpp"

#include <cstring>

#include "convoke/data_prep/pictures/fit.hpp"
#include "convoke/pictures/decode.hpp"
#include "pictures/test_pictures.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::data_prep;
using convoke::pictures::decode_picture;
using convoke::pictures::read_encoded;

namespace {

std::vector<std::byte> sample_of(const PictureOptions& options, const char* file) {
  std::vector<std::byte> sample(static_cast<std::size_t>(options.height * options.width * options.channels));
  const PictureReader reader(options);
  const Original original = reader.read(read_encoded(kPictures / file), file, sample);
  CHECK(original.bytes == std::filesystem::file_size(kPictures / file));
  return sample;
}

}  // namespace

TEST_CASE("reading a picture decodes and fits it; a picture of the right size is unchanged") {
  const Image picture = decode_picture(read_encoded(kPictures / "large.png"), "large.png", 3);
  const PictureSize size{20, 31};
  for (const std::string& fit : fit_names()) {
    std::vector<std::uint8_t> expected(20 * 31 * 3);
    apply(find_fit(fit), picture, size, expected);
    const std::vector<std::byte> sample =
        sample_of({.height = 20, .width = 31, .fit = fit, .channels = 3}, "large.png");
    CHECK(std::memcmp(sample.data(), expected.data(), expected.size()) == 0);
    const std::vector<std::byte> whole =
        sample_of({.height = 60, .width = 80, .fit = fit, .channels = 3}, "large.png");
    CHECK(std::memcmp(whole.data(), picture.values.data(), whole.size()) == 0);
  }
}

TEST_CASE("a JPEG reduced during decoding gives nearly the same sample as a full-size one") {
  const Image picture = decode_picture(read_encoded(kPictures / "exif6.jpg"), "a", 3);  // 54 x 39, upright
  for (const std::string& fit : {std::string("area"), std::string("letter-box"), std::string("crop")}) {
    const PictureSize size{13, 9};
    std::vector<std::uint8_t> expected(13 * 9 * 3);
    apply(find_fit(fit), picture, size, expected);
    const std::vector<std::byte> sample =
        sample_of({.height = 13, .width = 9, .fit = fit, .channels = 3}, "exif6.jpg");
    double sum = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      sum += std::abs(static_cast<int>(sample[i]) - expected[i]);
      CHECK(static_cast<double>(static_cast<int>(sample[i])) == Approx(expected[i]).margin(12));
    }
    CHECK(sum / static_cast<double>(sample.size()) < 2);
  }
}

TEST_CASE("the default size is the fit's") {
  Catalog catalog;
  catalog.items.push_back({.name = "a"});
  PictureReader reader({.fit = "fundus"});
  reader.learn(catalog, [](std::size_t) { return read_encoded(kPictures / "baseline.jpg"); });
  CHECK(reader.format().shape == convoke::Shape{3, 256, 256});
}

TEST_CASE("the preparation stored in a dataset makes the same samples of other pictures") {
  const PictureOptions options{.height = 30, .width = 20, .fit = "letter-box", .channels = 1};
  const std::string preparation = PictureReader(options).format().preparation;
  CHECK(preparation == R"({"kind":"picture","fit":"letter-box","height":30,"width":20,"channels":1})");
  const PictureOptions again = picture_options(preparation, "model.h5");
  CHECK(sample_of(again, "large.png") == sample_of(options, "large.png"));
  CHECK_THAT(error_of([] { picture_options(R"({"kind":"text"})", "model.h5"); }),
             Contains("model.h5: prepares samples of kind text, not pictures"));
  CHECK_THAT(error_of([] { picture_options(R"({"kind":"picture"})", "model.h5"); }),
             Contains("model.h5: its preparation is damaged"));
  CHECK_THAT(error_of([] { picture_options("{", "model.h5"); }),
             Contains("model.h5: its preparation is damaged"));
}
