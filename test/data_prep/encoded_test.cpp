// Datasets whose pictures are stored as PNG or JPEG.
#include "convoke/data/dataset.hpp"
#include "convoke/data_prep/prepare.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/pictures/decode.hpp"
#include "idx_files.hpp"
#include "sources/put_picture.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "thread_team.hpp"

using namespace convoke::data_prep;
namespace data = convoke::data;

namespace {

PrepareOptions encoding_options(const fs::path& source, const fs::path& output, Encoding::Kind kind) {
  PrepareOptions options{source, output};
  options.encoding.kind = kind;
  return options;
}

/// Two classes of two pictures of 39 x 54 pixels in `folder`, and a split.
PrepareOptions photographs(const fs::path& folder, const fs::path& output, Encoding::Kind kind) {
  fs::remove_all(folder);
  put_picture(folder / "a/1.jpg", "baseline.jpg");
  put_picture(folder / "a/2.jpg", "progressive.jpg");
  put_picture(folder / "b/3.jpg", "full_chroma.jpg");
  put_picture(folder / "b/4.jpg", "exif2.jpg");
  PrepareOptions options = encoding_options(folder, output, kind);
  options.splits.parts = {{"train", 0.5}, {"test", 0.5}};
  options.order = Order::kSource;
  options.allow_duplicates = true;
  return options;
}

std::vector<std::uint8_t> train_pixels(const fs::path& file) {
  const auto dataset = data::Dataset::open(file, {"train"});
  const auto values = dataset.split("train").values<std::uint8_t>();
  return {values.begin(), values.end()};
}

std::string stored_bytes(const fs::path& file) {
  const auto bytes = convoke::hdf5::File::open(file).read<std::uint8_t>("train/encoded");
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("pictures stored as PNG are the dataset of the same pixels, in one file and in shards") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  const PrepareReport plain = prepare({folder.path(), folder / "plain.h5"});
  PrepareOptions options = encoding_options(folder.path(), folder / "png.h5", Encoding::kPng);
  const PrepareReport png = prepare(options);
  CHECK(png.info.content_hash == plain.info.content_hash);
  CHECK(png.info.channel_mean == plain.info.channel_mean);
  CHECK(png.info.channel_std == plain.info.channel_std);
  CHECK(png.duplicates == plain.duplicates);
  CHECK(train_pixels(folder / "png.h5") == small_images(30));
  CHECK_THAT(png.info.provenance, Contains("; stored as PNG"));
  CHECK(png.info.preparation == plain.info.preparation);

  options.output = folder / "shards";
  options.shards = 4;
  CHECK(prepare(options).info.content_hash == plain.info.content_hash);
  CHECK(train_pixels(folder / "shards") == small_images(30));
}

TEST_CASE("a team encodes to the same bytes as one process") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  prepare(encoding_options(folder.path(), folder / "one.h5", Encoding::kJpeg));
  for (const int count : {3, 40}) {  // 40: more than there are samples
    PrepareOptions options = encoding_options(folder.path(), folder / "many.h5", Encoding::kJpeg);
    options.overwrite = true;
    as_team(count, [&](const Team& member) { prepare(options, member); });
    CHECK(bytes_of(folder / "one.h5") == bytes_of(folder / "many.h5"));
  }
}

TEST_CASE("an interrupted run that encodes is resumed, but not with another quality") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  prepare(encoding_options(folder.path(), folder / "whole.h5", Encoding::kJpeg));
  PrepareOptions options = encoding_options(folder.path(), folder / "small.h5", Encoding::kJpeg);
  struct Cut {};
  options.progress = [](std::int64_t done, std::int64_t) {
    if (done == 20) throw Cut{};
  };
  CHECK_THROWS_AS(prepare(options), Cut);
  options.progress = {};
  SECTION("with the same options") {
    CHECK(prepare(options).taken_up == 20);
    CHECK(bytes_of(folder / "small.h5") == bytes_of(folder / "whole.h5"));
  }
  SECTION("with another quality") {
    options.encoding.jpeg_quality = 50;
    CHECK(prepare(options).taken_up == 0);
  }
}

TEST_CASE("a JPEG that has the size of a sample is stored as it is") {
  const TemporaryFolder folder;
  const PrepareReport plain = prepare(photographs(folder / "in", folder / "plain.h5", Encoding::kNone));
  const PrepareReport jpeg = prepare(photographs(folder / "in", folder / "jpeg.h5", Encoding::kJpeg));
  CHECK(jpeg.info.content_hash == plain.info.content_hash);
  CHECK(train_pixels(folder / "jpeg.h5") == train_pixels(folder / "plain.h5"));
  const std::string all = stored_bytes(folder / "jpeg.h5");
  std::size_t kept = 0;
  for (const char* file : {"in/a/1.jpg", "in/a/2.jpg", "in/b/3.jpg", "in/b/4.jpg"}) {
    const std::string bytes = bytes_of(folder / file);
    if (all.find(bytes) != std::string::npos) kept += bytes.size();
  }
  CHECK(kept == all.size());

  // As PNG, the same pixels are encoded.
  const PrepareReport png = prepare(photographs(folder / "in", folder / "png.h5", Encoding::kPng));
  CHECK(png.info.content_hash == plain.info.content_hash);
  CHECK(stored_bytes(folder / "png.h5").substr(1, 3) == "PNG");
}

TEST_CASE("a JPEG of another size is fitted and encoded in the quality that was asked for") {
  const TemporaryFolder folder;
  PrepareOptions options = photographs(folder / "in", folder / "plain.h5", Encoding::kNone);
  options.samples.picture.height = 13;  // a third, and the decoder reduces by a half
  options.samples.picture.width = 18;
  prepare(options);
  options.encoding.kind = Encoding::kJpeg;
  std::vector<std::uint64_t> bytes;
  std::vector<int> errors;
  for (const int quality : {95, 40}) {
    options.output = folder / ("q" + std::to_string(quality) + ".h5");
    options.encoding.jpeg_quality = quality;
    CHECK_THAT(prepare(options).info.provenance,
               Contains("stored as JPEG of quality " + std::to_string(quality)));
    bytes.push_back(data::stored_layout(options.output, "train").encoded_bytes);
    const auto pixels = train_pixels(folder / "plain.h5"), close = train_pixels(options.output);
    REQUIRE(close.size() == pixels.size());
    errors.push_back(0);
    for (std::size_t i = 0; i < pixels.size(); ++i) errors.back() += std::abs(close[i] - pixels[i]);
  }
  CHECK(bytes[1] < bytes[0]);
  CHECK(errors[0] < errors[1]);
  CHECK(errors[0] < 6 * 2 * 13 * 18 * 3);  // on average less than 6 of 255
}

TEST_CASE("a JPEG of twice the size, which is decoded at half of it, is not stored as it is") {
  const TemporaryFolder folder;
  put_picture(folder / "in/a/1.png", "large.png");
  put_picture(folder / "in/b/2.png", "large.png");
  PrepareOptions options = encoding_options(folder / "in", folder / "large.h5", Encoding::kJpeg);
  options.splits.parts = {{"train", 1}};
  options.allow_duplicates = true;
  prepare(options);
  // Its two JPEGs of 60 x 80 pixels become the source of a dataset of 30 x 40.
  const std::string both = stored_bytes(folder / "large.h5");
  const std::string jpeg = both.substr(0, both.size() / 2);
  for (const char* name : {"half/a/1.jpg", "half/b/2.jpg"}) {
    write_file(folder / name, jpeg);
  }
  options.source = folder / "half";
  options.output = folder / "half.h5";
  options.samples.picture.height = 30;
  options.samples.picture.width = 40;
  prepare(options);
  const auto dataset = data::Dataset::open(folder / "half.h5", {"train"});
  CHECK(dataset.info().sample_shape == convoke::Shape{3, 30, 40});
  CHECK(stored_bytes(folder / "half.h5").size() < both.size());
}

TEST_CASE("samples that are not pictures of 8 bits cannot be encoded") {
  const TemporaryFolder folder;
  write_file(folder / "rows.csv", "a,b,class\n1,2,x\n3,4,y\n5,6,x\n7,8,y\n");
  CHECK_THAT(
      error_of([&] { prepare(encoding_options(folder / "rows.csv", folder / "rows.h5", Encoding::kPng)); }),
      Contains(
          "rows.csv: its samples are float32 of (2); only pictures of 8 bits in gray or RGB can be encoded"));
  CHECK_FALSE(fs::exists(folder / "rows.h5"));
}
