// Encoded pictures are samples like others: every reader gets their pixels.
#include "convoke/data/batch_loader.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/data/dataset_reader.hpp"
#include "convoke/data/read_ahead.hpp"
#include "convoke/data/shards.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/pictures/encode.hpp"
#include "opening.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "typed_example.hpp"

using convoke::Shape;
using namespace convoke::data;
namespace hdf5 = convoke::hdf5;
namespace pictures = convoke::pictures;

namespace {

constexpr std::int64_t kPictureTrain = 50, kPictureTest = 7, kPictureHeight = 5, kPictureWidth = 4;

std::vector<std::uint8_t> made_pixels(std::int64_t sample, std::int64_t channels) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t v = 0; v < kPictureHeight * kPictureWidth * channels; ++v)
    pixels.push_back(static_cast<std::uint8_t>((37 * sample + 11 * v + v * v % 7) % 253));
  return pixels;
}

/// A split's pixels, or its pictures as PNG with their ends.
struct StoredPictures {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> ends;
};
StoredPictures plain_pictures(std::int64_t count, std::int64_t channels) {
  StoredPictures all;
  for (std::int64_t i = 0; i < count; ++i)
    std::ranges::copy(made_pixels(i, channels), std::back_inserter(all.bytes));
  return all;
}
StoredPictures encoded_pictures(std::int64_t count, std::int64_t channels) {
  StoredPictures all;
  for (std::int64_t i = 0; i < count; ++i) {
    std::ranges::copy(pictures::encode_png(made_pixels(i, channels), {kPictureHeight, kPictureWidth}),
                      std::back_inserter(all.bytes));
    all.ends.push_back(std::ssize(all.bytes));
  }
  return all;
}

/// Writes both splits, in pieces as several processes do.
DatasetInfo write_pictures(const fs::path& path, StoredPictures (*make)(std::int64_t, std::int64_t),
                           std::int64_t channels, std::int64_t shards) {
  std::vector<SplitSize> splits{{"train", kPictureTrain}, {"test", kPictureTest}};
  for (SplitSize& split : splits) split.encoded_ends = make(split.samples, channels).ends;
  if (shards > 0) splits = in_shards(splits, shards);
  auto writer = DatasetWriter::create(
      path, typed_info(SampleType::kUint8, {channels, kPictureHeight, kPictureWidth}), splits);
  for (const SplitSize& split : splits) {
    const StoredPictures all = make(split.samples, channels);
    const auto begin_of = [&](std::int64_t sample) {
      if (all.ends.empty()) return sample * kPictureHeight * kPictureWidth * channels;
      return sample == 0 ? 0 : all.ends[static_cast<std::size_t>(sample - 1)];
    };
    const std::vector<std::int32_t> labels = example_labels(split.samples);
    for (std::int64_t first = 0; first < split.samples; first += 9) {
      const std::int64_t last = std::min(first + 9, split.samples);
      writer.write(
          split.name, first,
          std::span<const std::uint8_t>(all.bytes).subspan(
              static_cast<std::size_t>(begin_of(first)),
              static_cast<std::size_t>(begin_of(last) - begin_of(first))),
          std::span(labels).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
    }
  }
  return writer.finish();
}

/// A dataset of two pictures of 5 x 4 x 1, one of whose parts may be wrong.
struct EncodedParts {
  std::vector<std::uint8_t> bytes = encoded_pictures(2, 1).bytes;
  std::vector<std::int64_t> ends = encoded_pictures(2, 1).ends;
  std::vector<std::int64_t> shape = {kPictureHeight, kPictureWidth, 1};
  std::vector<std::int32_t> labels = {0, 1};
};
void write_encoded_parts(const fs::path& path, const EncodedParts& parts) {
  hdf5::File file = hdf5::File::create(path);
  file.set_attribute("convoke_format", "dataset");
  file.set_attribute("format_version", 2);
  file.set_attribute("classes", 2);
  file.set_attribute("sample_shape", std::span<const std::int64_t>(parts.shape));
  file.write("train/encoded", parts.bytes);
  file.write("train/encoded_ends", parts.ends);
  file.write("train/labels", parts.labels);
  file.close();
}

}  // namespace

TEST_CASE("encoded pictures give the dataset of their pixels, in memory, streamed and in parts") {
  const TemporaryFolder folder;
  const std::int64_t channels = GENERATE(1, 3);
  const std::int64_t shards = GENERATE(0, 4);
  const DatasetInfo a = write_pictures(folder / "plain", plain_pictures, channels, shards);
  const DatasetInfo b = write_pictures(folder / "encoded", encoded_pictures, channels, shards);
  CHECK(b.content_hash == a.content_hash);
  CHECK(b.channel_mean == a.channel_mean);  // to the bit
  CHECK(b.channel_std == a.channel_std);
  CHECK(inspect(folder / "encoded", {"test"}).sample_shape == Shape{channels, kPictureHeight, kPictureWidth});

  const Dataset pixels = Dataset::open(folder / "plain", {"train", "test"});
  const Dataset held = Dataset::open(folder / "encoded", {"train", "test"});
  const Dataset streamed = Dataset::open(folder / "encoded", {"train"}, private_storage(0));
  for (const char* split : {"train", "test"}) {
    CHECK(copy(held.split(split).values<std::uint8_t>()) == copy(pixels.split(split).values<std::uint8_t>()));
    CHECK(copy(held.split(split).labels) == copy(pixels.split(split).labels));
  }
  const std::size_t size = static_cast<std::size_t>(kPictureHeight * kPictureWidth * channels);
  const std::vector<std::uint32_t> ids{49, 3, 4, 5, 12, 13, 0};  // out of order, across shards
  REQUIRE(streamed.split("train").stream != nullptr);
  const std::byte* const fetched = streamed.split("train").stream->fetch(ids);
  for (std::size_t i = 0; i < ids.size(); ++i)
    CHECK(std::ranges::equal(std::span(fetched + i * size, size),
                             std::as_bytes(std::span<const std::uint8_t>(made_pixels(ids[i], channels)))));

  const DatasetReader reader(folder / "encoded");
  std::vector<std::uint8_t> values(3 * size);
  reader.read(0, 25, std::span(values));
  CHECK(std::equal(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size),
                   made_pixels(25, channels).begin()));
}

TEST_CASE("the sizes of encoded pictures are those of their files, across shards") {
  const TemporaryFolder folder;
  write_pictures(folder / "encoded", encoded_pictures, 1, 4);
  write_pictures(folder / "plain", plain_pictures, 1, 0);
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < kPictureTrain; ++i)
    sizes.push_back(std::ssize(pictures::encode_png(made_pixels(i, 1), {kPictureHeight, kPictureWidth})));
  CHECK(encoded_sizes(folder / "encoded", "train") == sizes);
  CHECK(encoded_sizes(folder / "plain", "train").empty());
}

TEST_CASE("encoded pictures are decoded ahead of their use") {
  const TemporaryFolder folder;
  write_pictures(folder / "data", encoded_pictures, 3, 4);
  const Dataset dataset = Dataset::open(folder / "data", {"train"}, private_storage(2 * 60 * 24));
  const Split& split = dataset.split("train");
  std::vector<std::uint32_t> all(kPictureTrain);
  std::iota(all.begin(), all.end(), 0U);
  for (const Shuffle& shuffle : {Shuffle(false), Shuffle(true), Shuffle::chunks(60, 1200, 300)}) {
    const EpochPlan plan(all, 3, 0, 12, shuffle);
    ReadAhead ahead(*split.stream, plan, 0, [](std::int64_t samples) { return SampleRange{0, samples}; });
    for (std::int64_t step = 0; step < plan.steps(); ++step) {
      const std::span<const std::uint32_t> ids = plan.step(step);
      const std::byte* const found = ahead.find(ids);
      REQUIRE(found != nullptr);
      for (std::size_t i = 0; i < ids.size(); ++i)
        CHECK(std::ranges::equal(std::span(found + 60 * i, 60),
                                 std::as_bytes(std::span<const std::uint8_t>(made_pixels(ids[i], 3)))));
      ahead.step_done();
    }
  }
}

TEST_CASE("the layout of encoded pictures says how many bytes they are") {
  const TemporaryFolder folder;
  write_pictures(folder / "data", encoded_pictures, 3, 4);
  const StoredLayout layout = stored_layout(folder / "data", "train");
  CHECK(layout.samples == kPictureTrain);
  CHECK(layout.bytes == kPictureTrain * 60);
  CHECK(layout.encoded_bytes == encoded_pictures(kPictureTrain, 3).bytes.size());
  CHECK(layout.contiguous);
  CHECK(layout.files == 4);
}

TEST_CASE("files of encoded pictures have a version of their own, which older programs refuse") {
  const TemporaryFolder folder;
  write_pictures(folder / "plain.h5", plain_pictures, 1, 0);
  write_pictures(folder / "encoded.h5", encoded_pictures, 1, 0);
  CHECK(hdf5::File::open(folder / "plain.h5").attribute<std::int64_t>("format_version") == 1);
  CHECK(hdf5::File::open(folder / "encoded.h5").attribute<std::int64_t>("format_version") == 2);
}

TEST_CASE("several writers fill one file of encoded pictures, to the same bytes") {
  const TemporaryFolder folder;
  write_pictures(folder / "one.h5", encoded_pictures, 3, 0);
  const DatasetInfo info = typed_info(SampleType::kUint8, {3, kPictureHeight, kPictureWidth});
  const StoredPictures train = encoded_pictures(kPictureTrain, 3), test = encoded_pictures(kPictureTest, 3);
  std::vector<SplitSize> splits{{"train", kPictureTrain}, {"test", kPictureTest}};
  splits[0].encoded_ends = train.ends;
  splits[1].encoded_ends = test.ends;
  auto first = DatasetWriter::create(folder / "two.h5", info, splits);
  auto second = DatasetWriter::join(folder / "two.h5", info, splits, first.places());
  const auto half = static_cast<std::size_t>(train.ends[24]);
  const std::span<const std::uint8_t> bytes(train.bytes);
  const std::vector<std::int32_t> labels = example_labels(kPictureTrain);
  second.write("train", 25, bytes.subspan(half), std::span(labels).subspan(25));
  first.write("train", 0, bytes.first(half), std::span(labels).first(25));
  second.write("test", 0, test.bytes, example_labels(kPictureTest));
  second.flush();
  first.finish();
  CHECK(bytes_of(folder / "one.h5") == bytes_of(folder / "two.h5"));
}

TEST_CASE("damaged encoded pictures are refused, and file, split and sample are named") {
  const TemporaryFolder folder;
  const fs::path file = folder / "x.h5";
  const auto spoilt = [&](const EncodedParts& parts) {
    write_encoded_parts(file, parts);
    return open_error(file);
  };
  const EncodedParts good;
  const std::int64_t middle = good.ends[0], last = good.ends[1];
  CHECK(spoilt({}).empty());
  CHECK_THAT(spoilt({.ends = {middle}}),
             Contains("x.h5: /train/encoded_ends: is damaged: the last sample ends at byte"));
  CHECK_THAT(spoilt({.ends = {last, middle}}),
             Contains("/train/encoded_ends: is damaged: sample 0 ends at byte"));
  CHECK_THAT(spoilt({.ends = {last, last}}), Contains("is damaged: sample 0 ends at byte"));  // no bytes
  CHECK_THAT(spoilt({.ends = {-5, last}}), Contains("is damaged: sample 0 ends at byte -5"));
  CHECK_THAT(spoilt({.ends = {middle, last + 1}}), Contains("the last sample ends at byte"));
  CHECK_THAT(spoilt({.ends = {middle, std::int64_t{1} << 62}}), Contains("the last sample ends at byte"));
  CHECK_THAT(spoilt({.labels = {0}}), Contains("/train/labels: holds int32 of shape (1); 2 samples need"));
  CHECK_THAT(
      spoilt({.shape = {kPictureWidth, kPictureHeight, 1}}),
      Contains("x.h5: /train/encoded: sample 0: has 5 x 4 pixels, but the dataset's samples have 4 x 5"));
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{5, 4}, {5, 4, 2}, {0, 4, 1}, {5, 4, 1, 1}, {100'000, 4, 1}})
    CHECK_THAT(spoilt({.shape = shape}), Contains("x.h5: /: has the sample_shape"));

  EncodedParts parts;
  parts.bytes[static_cast<std::size_t>(middle) + 40] ^= 1;  // in the second picture
  CHECK_THAT(spoilt(parts), Contains("x.h5: /train/encoded: sample 1: "));
  parts.bytes = good.bytes;
  parts.bytes[static_cast<std::size_t>(middle)] = 'x';
  CHECK_THAT(spoilt(parts), Contains("x.h5: /train/encoded: sample 1: "));
  parts.bytes = good.bytes;
  parts.ends[0] += 1;  // a truncated second picture
  CHECK_THAT(spoilt(parts), Contains("x.h5: /train/encoded: sample 1: "));

  write_encoded_parts(file, {});
  fs::resize_file(file, fs::file_size(file) - 7);
  CHECK_THAT(open_error(file), Contains("x.h5: is truncated"));
}

TEST_CASE("a damaged encoded picture ends the thread that needs it, streamed or read ahead") {
  const TemporaryFolder folder;
  EncodedParts parts;
  parts.bytes[static_cast<std::size_t>(parts.ends[0]) + 40] ^= 1;
  write_encoded_parts(folder / "x.h5", parts);
  const Dataset dataset = Dataset::open(folder / "x.h5", {"train"}, private_storage(39));
  const SampleStream& stream = *dataset.split("train").stream;
  const std::vector<std::uint32_t> good{0}, all{0, 1};
  CHECK(stream.fetch(good) != nullptr);
  CHECK_THAT(error_of([&] { stream.fetch(all); }), Contains("x.h5: /train/encoded: sample 1: "));

  const Dataset roomy = Dataset::open(folder / "x.h5", {"train"}, private_storage(39));
  const EpochPlan plan(all, 1, 0, 1, false);
  std::string message;
  {
    ReadAhead ahead(*roomy.split("train").stream, plan, 0, [](std::int64_t samples) {
      return SampleRange{0, samples};
    });
    message = error_of([&] {
      for (std::int64_t step = 0; step < plan.steps(); ++step) {
        roomy.split("train").stream->fetch(plan.step(step));
        ahead.step_done();
      }
    });
  }
  CHECK_THAT(message, Contains("x.h5: /train/encoded: sample 1: "));
}
