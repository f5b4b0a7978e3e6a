#include "convoke/data/dataset.hpp"

#include "convoke/hdf5/file.hpp"
#include "example_dataset.hpp"
#include "opening.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/full_disk.hpp"
#include "support/source_path.hpp"
#include "support/text.hpp"

using convoke::Shape;
using namespace convoke::data;
namespace hdf5 = convoke::hdf5;

namespace {

/// The contents of an example file; a test may spoil one part.
struct Parts {
  std::string format = "dataset";
  std::int64_t version = 1;
  std::int64_t classes = 3;
  std::vector<std::string> class_names = {"cat", "dog", "emu"};
  std::vector<double> mean = {1.0};
  Shape samples = {10, 2, 3, 1};
  std::int64_t labels = 10;
  std::int32_t last_label = 2;
  int deflate = 0;
  bool names_of_numpy = false;  ///< an empty list, which NumPy stores as a list of numbers
};

void write_parts(const fs::path& path, const Parts& parts) {
  hdf5::File file = hdf5::File::create(path);
  file.set_attribute("convoke_format", parts.format);
  file.set_attribute("format_version", parts.version);
  file.set_attribute("classes", parts.classes);
  file.set_attribute("class_names", parts.class_names);
  if (parts.names_of_numpy) file.set_attribute("class_names", std::vector<double>{});
  file.set_attribute("channel_mean", parts.mean);
  file.set_attribute("channel_std", std::vector<double>{1.0});
  file.set_attribute("provenance", "");
  file.set_attribute("content_hash", "");
  std::vector<std::uint8_t> values(static_cast<std::size_t>(parts.samples.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i);
  file.create_dataset("train/samples", hdf5::ElementType::kUint8, parts.samples, parts.deflate)
      .write(std::span<const std::uint8_t>(values));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(parts.labels), 1);
  labels.back() = parts.last_label;
  file.write("train/labels", labels);
  file.close();
}

}  // namespace

TEST_CASE("a dataset comes back as written") {
  const TemporaryFolder folder;
  const std::int64_t channels = GENERATE(1, 3, 4);
  write_example(folder / "x.h5", channels);
  CHECK_FALSE(fs::exists(folder / "x.h5.part"));

  const Dataset dataset = Dataset::open(folder / "x.h5", {"train", "test"});
  CHECK(dataset.file() == folder / "x.h5");
  CHECK(dataset.info().sample_shape == Shape{channels, 2, 3});
  CHECK(dataset.info().classes == 3);
  CHECK(dataset.info().class_names == std::vector<std::string>{"cat", "dog", "emu"});
  CHECK(dataset.info().provenance == "made up");
  for (const auto& [name, count] : {std::pair{"train", 10}, std::pair{"test", 4}}) {
    const ExampleSplit expected = example_split(count, channels);
    const Split& split = dataset.split(name);
    CHECK(split.count() == count);
    CHECK(copy(split.values<std::uint8_t>()) == expected.samples);
    CHECK(copy(split.labels) == expected.labels);
  }
  CHECK_THAT(error_of([&] { dataset.split("tran"); }),
             Contains("x.h5: split \"tran\" was not opened (did you mean \"train\"?)"));
}

TEST_CASE("mean, standard deviation and hash equal NumPy's and zlib's") {
  // h = 0
  // for n in 10, 4: h = zlib.crc32(labels(n).tobytes(), zlib.crc32(samples(n).tobytes(), h))
  // x = samples(10).reshape(-1, C).astype("f8"); x.mean(0), x.std(0)
  const TemporaryFolder folder;
  const DatasetInfo one = write_example(folder / "1.h5", 1);
  CHECK(one.content_hash == "crc32:fd308b07");
  CHECK(one.channel_mean.at(0) == Approx(34.0).epsilon(1e-14));
  CHECK(one.channel_std.at(0) == Approx(20.1783712590156).epsilon(1e-14));
  const DatasetInfo three = write_example(folder / "3.h5", 3);
  CHECK(three.content_hash == "crc32:977be796");
  const double mean[] = {39.0, 40.0, 41.0};
  const double deviation[] = {20.74849392124643, 20.74849392124643, 20.74849392124643};
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(three.channel_mean.at(c) == Approx(mean[c]).epsilon(1e-14));
    CHECK(three.channel_std.at(c) == Approx(deviation[c]).epsilon(1e-14));
  }
  const DatasetInfo read = Dataset::open(folder / "3.h5", {"test"}).info();
  CHECK(read.channel_mean == three.channel_mean);
  CHECK(read.channel_std == three.channel_std);
  CHECK(read.content_hash == three.content_hash);
}

TEST_CASE("the caller may provide the memory, and several processes fill one part each") {
  const TemporaryFolder folder;
  write_example(folder / "x.h5");
  std::vector<std::byte> window(4096);
  int published = 0;
  Storage storage;
  storage.allocate = [&](std::size_t bytes) { return std::span(window).first(bytes); };
  storage.ready = [&] { ++published; };
  storage.parts = 2;

  storage.part = 1;
  const Dataset second = Dataset::open(folder / "x.h5", {"train", "test"}, storage);
  CHECK(published == 1);
  const auto train = second.split("train").values<std::uint8_t>();
  const std::vector<std::uint8_t> expected = example_split(10, 1).samples;
  CHECK(std::all_of(train.begin(), train.begin() + 30, [](std::uint8_t v) { return v == 0; }));  // other part
  CHECK(std::equal(train.begin() + 30, train.end(), expected.begin() + 30));

  storage.part = 0;
  const Dataset first = Dataset::open(folder / "x.h5", {"train", "test"}, storage);
  CHECK(published == 2);
  CHECK(copy(train) == expected);
  CHECK(copy(second.split("test").labels) == example_split(4, 1).labels);
  CHECK(train.data() == first.split("train").values<std::uint8_t>().data());
}

TEST_CASE("a file without class names that h5py wrote by docs/formats.md is read") {
  const Dataset dataset = Dataset::open(source_path("test/data/files/foreign.h5"), {"train", "test"});
  CHECK(dataset.info().class_names.empty());
  CHECK(dataset.info().classes == 3);
  CHECK(dataset.info().sample_shape == Shape{2, 2, 3});
  CHECK(dataset.info().channel_mean.size() == 2);
  CHECK(dataset.info().provenance == "h5py");
  CHECK(dataset.split("train").count() == 6);
  for (std::size_t i = 0; i < 36; ++i) CHECK(dataset.split("test").values<std::uint8_t>()[i] == i);
  CHECK(copy(dataset.split("test").labels) == std::vector<std::int32_t>{0, 1, 2});

  const TemporaryFolder folder;
  for (const bool of_numpy : {false, true}) {
    write_parts(folder / "x.h5", {.class_names = {}, .names_of_numpy = of_numpy});
    CHECK(Dataset::open(folder / "x.h5", {"train"}).info().class_names.empty());
  }
}

TEST_CASE("compressed datasets are read") {
  const TemporaryFolder folder;
  write_parts(folder / "x.h5", {.deflate = 6});
  const Dataset dataset = Dataset::open(folder / "x.h5", {"train"});
  for (std::size_t i = 0; i < 60; ++i) CHECK(dataset.split("train").values<std::uint8_t>()[i] == i);
  CHECK_FALSE(stored_layout(folder / "x.h5", "train").contiguous);
}

TEST_CASE("the layout of samples is found without reading them") {
  const TemporaryFolder folder;
  write_example(folder / "x.h5", 3);  // 2 x 3 pixels
  const StoredLayout layout = stored_layout(folder / "x.h5", "train");
  CHECK(layout.samples == 10);
  CHECK(layout.sample_bytes == 18);
  CHECK(layout.bytes == 180);
  CHECK(layout.files == 1);
  CHECK(layout.contiguous);
  CHECK(layout.first == folder / "x.h5");
}

TEST_CASE("an invalid dataset is refused with a reason") {
  const TemporaryFolder folder;
  const fs::path file = folder / "x.h5";
  const auto spoilt = [&](const Parts& parts) {
    write_parts(file, parts);
    return open_error(file);
  };
  CHECK(spoilt({}).empty());
  CHECK_THAT(open_error(file, "tain"), Contains("x.h5: has no split \"tain\" (did you mean \"train\"?)"));
  CHECK_THAT(open_error(folder / "none.h5"), Contains("none.h5: no such file"));
  CHECK_THAT(spoilt({.format = "model"}), Contains("x.h5: is an HDF5 file, but not a Convoke dataset"));
  CHECK_THAT(spoilt({.version = 3}),
             Contains("was written by a newer Convoke (format 3, this one reads up to 2)"));
  CHECK_THAT(spoilt({.classes = 1}), Contains("has 1 classes"));
  CHECK_THAT(spoilt({.class_names = {"cat"}}), Contains("has 1 class names for 3 classes"));
  CHECK_THAT(spoilt({.mean = {1, 2}}),
             Contains("a mean and a standard deviation for each of its 1 channels"));
  CHECK_THAT(spoilt({.mean = {NAN}}), Contains("a mean and a standard deviation"));
  CHECK_THAT(spoilt({.samples = {10, 6}}), Contains("x.h5: /train/samples: holds uint8 of shape (10, 6)"));
  CHECK_THAT(spoilt({.labels = 9}),
             Contains("x.h5: /train/labels: holds int32 of shape (9); 10 samples need"));
  CHECK_THAT(spoilt({.last_label = 3}), Contains("x.h5: /train/labels: sample 9 has label 3, outside 0..2"));
  CHECK_THAT(spoilt({.last_label = -1}), Contains("sample 9 has label -1"));

  write_parts(file, {});
  fs::resize_file(file, fs::file_size(file) - 7);
  CHECK_THAT(open_error(file), Contains("x.h5: is truncated"));
  std::ofstream(file) << "not HDF5 at all";
  CHECK_THAT(open_error(file), Contains("x.h5: is not an HDF5 file"));
}

TEST_CASE("more samples than 32 bits can number are refused") {
  const TemporaryFolder folder;
  const std::int64_t many = std::int64_t{1} << 32;
  CHECK_THAT(error_of([&] {
               DatasetWriter::create(folder / "x.h5", example_info(1), {{"train", many}});
             }),
             Contains("split \"train\" has 4294967296 samples; samples are numbered with 32 bits"));
  {
    hdf5::File file = hdf5::File::create(folder / "x.h5");  // sparse: takes no disk space
    file.set_attribute("convoke_format", "dataset");
    file.set_attribute("format_version", 1);
    file.set_attribute("classes", 2);
    file.reserve("train/samples", hdf5::ElementType::kUint8, Shape{many, 1, 1, 1});
    file.reserve("train/labels", hdf5::ElementType::kInt32, Shape{many});
    file.close();
  }
  CHECK_THAT(open_error(folder / "x.h5"), Contains("numbered with 32 bits"));
}

TEST_CASE("a writer leaves a complete file or none") {
  const TemporaryFolder folder;
  const fs::path file = folder / "x.h5";
  const ExampleSplit train = example_split(10, 1);

  SECTION("the writer is destroyed before finish()") {
    {
      auto writer = DatasetWriter::create(file, example_info(1), {{"train", 10}});
      writer.write("train", 0, train.samples, train.labels);
      CHECK_FALSE(fs::exists(file));
    }
    CHECK(fs::is_empty(folder.path()));
  }
  SECTION("a label is out of range") {
    {
      auto writer = DatasetWriter::create(file, example_info(1), {{"train", 10}});
      std::vector<std::int32_t> labels = train.labels;
      labels[4] = 3;
      CHECK_THAT(error_of([&] { writer.write("train", 0, train.samples, labels); }),
                 Contains("x.h5: sample 4 of split \"train\" has label 3, outside 0..2"));
    }
    CHECK(fs::is_empty(folder.path()));
  }
  SECTION("the disk becomes full while samples are written") {
    {
      auto writer = DatasetWriter::create(file, example_info(1), {{"train", 10}});
      const FileSizeLimit limit(100);
      CHECK_THAT(error_of([&] { writer.write("train", 0, train.samples, train.labels); }),
                 Contains("x.h5.part: cannot be written: File too large"));
    }
    CHECK(fs::is_empty(folder.path()));
  }
  SECTION("the file exists") {
    write_example(file);
    CHECK_THAT(error_of([&] { write_example(file); }), Contains("x.h5: exists already"));
    CHECK(open_error(file).empty());
    auto writer = DatasetWriter::create(file, example_info(1), {{"train", 10}}, true);
    CHECK(open_error(file, "test").empty());  // the old file stays until the new one is complete
    writer.write("train", 0, train.samples, train.labels);
    writer.finish();
    CHECK_THAT(open_error(file, "test"), Contains("has no split \"test\""));
    CHECK(entries_in(folder.path()).size() == 1);
  }
  SECTION("the folder does not exist") {
    CHECK_THAT(error_of([&] {
                 DatasetWriter::create(folder / "none/x.h5", example_info(1), {{"train", 10}});
               }),
               Contains("none/x.h5.part: cannot be created: No such file or directory"));
  }
}
