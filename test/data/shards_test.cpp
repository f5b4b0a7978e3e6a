// Datasets as folders of shards, and the stored preparation; see also dataset_test.cpp.
#include "convoke/data/shards.hpp"

#include "convoke/hdf5/file.hpp"
#include "example_dataset.hpp"
#include "opening.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/full_disk.hpp"
#include "support/text.hpp"
#include "typed_example.hpp"

using convoke::Shape;
using namespace convoke::data;
namespace hdf5 = convoke::hdf5;

namespace {

/// Writes the example of example_dataset.hpp in 4 shards of training and 2 of test samples.
DatasetInfo write_shards(const fs::path& folder, const DatasetInfo& info = example_info(3),
                         bool overwrite = false) {
  return write_example(folder, info, in_shards({{"train", 10}, {"test", 4}}, 4), overwrite);
}

std::string shards_error(const fs::path& path) {
  return error_of([&] { Dataset::open(path, {"train", "test"}); });
}

}  // namespace

TEST_CASE("shards hold equal parts of a split, and shards of all splits have similar sizes") {
  CHECK(shard_name("train", 3, 16) == "train-00003-of-00016.h5");
  CHECK(is_shard_name("my-split-00003-of-00016.h5"));
  for (const char* name : {"train-3-of-16.h5", "train.h5", "-00000-of-00001.h5", "train-0000x-of-00001.h5"}) {
    CHECK_FALSE(is_shard_name(name));
  }
  std::vector<std::int64_t> firsts;
  for (std::int64_t shard = 0; shard <= 4; ++shard) firsts.push_back(first_of_shard(10, shard, 4));
  CHECK(firsts == std::vector<std::int64_t>{0, 3, 6, 8, 10});

  const std::vector<SplitSize> splits = in_shards({{"train", 1000}, {"validation", 250}, {"test", 1}}, 16);
  CHECK(splits[0].shards == 16);
  CHECK(splits[1].shards == 4);  // of at most 63 samples, as those of train
  CHECK(splits[2].shards == 1);
  CHECK(in_shards({{"train", 3}}, 16)[0].shards == 3);  // one for each sample
}

TEST_CASE("a folder of shards is the same dataset as a file") {
  const TemporaryFolder folder;
  const DatasetInfo one = write_example(folder / "one.h5", 3);
  const DatasetInfo many = write_shards(folder / "many");
  CHECK_FALSE(fs::exists(folder / "many.part"));
  CHECK(has_shards(folder / "many"));
  CHECK_FALSE(has_shards(folder.path()));
  CHECK_FALSE(has_shards(folder / "one.h5"));
  CHECK(entries_in(folder / "many").size() == 6);
  CHECK(many.content_hash == one.content_hash);
  CHECK(many.channel_mean == one.channel_mean);  // to the bit
  CHECK(many.channel_std == one.channel_std);

  const Dataset a = Dataset::open(folder / "one.h5", {"train", "test"});
  const Dataset b = Dataset::open(folder / "many", {"train", "test"});
  CHECK(b.info().class_names == a.info().class_names);
  CHECK(b.info().content_hash == one.content_hash);
  CHECK(b.info().channel_mean == one.channel_mean);
  for (const char* split : {"train", "test"}) {
    CHECK(copy(b.split(split).values<std::uint8_t>()) == copy(a.split(split).values<std::uint8_t>()));
    CHECK(copy(b.split(split).labels) == copy(a.split(split).labels));
  }
  CHECK(inspect(folder / "many", {"test"}).sample_shape == Shape{3, 2, 3});

  // Every shard is also a dataset, with the mean and hash of the whole.
  const Dataset third = Dataset::open(folder / "many/train-00002-of-00004.h5", {"train"});
  CHECK(third.split("train").count() == 2);
  CHECK(third.split("train").values<std::uint8_t>()[0] == 7 * 6);
  CHECK(third.info().content_hash == one.content_hash);
  CHECK(third.info().channel_mean == one.channel_mean);
}

TEST_CASE(
    "a process takes the structure from the first one, in a folder of its own, and notices another shard") {
  const TemporaryFolder folder;
  write_shards(folder / "first");
  fs::copy(folder / "first", folder / "other host");
  std::string sent;
  Storage first = private_storage(), second = private_storage();
  first.at_first = [&](const auto& work) { return sent = work(); };
  second.at_first = [&](const auto&) { return sent; };
  const Dataset a = Dataset::open(folder / "first", {"train", "test"}, first);
  const Dataset b = Dataset::open(folder / "other host", {"train", "test"}, second);
  CHECK(b.info().class_names == a.info().class_names);
  CHECK(b.info().channel_mean == a.info().channel_mean);
  CHECK(b.info().sample_shape == a.info().sample_shape);
  for (const char* split : {"train", "test"}) {
    CHECK(copy(b.split(split).values<std::uint8_t>()) == copy(a.split(split).values<std::uint8_t>()));
    CHECK(copy(b.split(split).labels) == copy(a.split(split).labels));
  }

  DatasetInfo renamed = example_info(3);
  renamed.class_names.front() = "another";
  write_shards(folder / "other host", renamed, true);
  const std::string why = error_of([&] { Dataset::open(folder / "other host", {"train", "test"}, second); });
  CHECK_THAT(why, Contains((folder / "other host/train-00000-of-00004.h5").string()));
  CHECK_THAT(why, Contains("differs from the file of rank 0: its class_names differs"));
}

TEST_CASE("numbers and tokens with weights can be in shards") {
  const TemporaryFolder folder;
  const DatasetInfo numbers = write_numbers(folder / "numbers.h5", Shape{5, 2});
  const DatasetInfo tokens = write_tokens(folder / "tokens.h5", 11);
  const auto write = [&](const char* name, const DatasetInfo& info, bool weights, auto make_samples) {
    auto writer = DatasetWriter::create(folder / name, info,
                                        in_shards({{"train", 10, weights}, {"test", 4, weights}}, 3));
    for (const auto& [split, n] : {std::pair{"train", 10}, std::pair{"test", 4}}) {
      const auto samples = make_samples(n);
      writer.write(split, 0, samples, example_labels(n), weights ? example_weights(n) : std::vector<float>());
    }
    return writer.finish();
  };
  const DatasetInfo a =
      write("numbers", typed_info(SampleType::kFloat32, Shape{5, 2}), true, [](std::int64_t n) {
        return example_numbers(n, Shape{5, 2});
      });
  auto of_tokens = typed_info(SampleType::kInt32, Shape{6});
  of_tokens.vocabulary = 11;
  const DatasetInfo b =
      write("tokens", of_tokens, false, [](std::int64_t n) { return example_tokens(n, 6); });
  CHECK(a.content_hash == numbers.content_hash);
  CHECK(a.channel_mean == numbers.channel_mean);  // sums of floats do not depend on the shards
  CHECK(b.content_hash == tokens.content_hash);

  const Dataset read = Dataset::open(folder / "numbers", {"train"});
  CHECK(copy(read.split("train").values<float>()) == example_numbers(10, Shape{5, 2}));
  CHECK(copy(read.split("train").weights) == example_weights(10));
  const Dataset texts = Dataset::open(folder / "tokens", {"train", "test"});
  CHECK(copy(texts.split("test").values<std::int32_t>()) == example_tokens(4, 6));
  CHECK(texts.info().vocabulary == 11);
  CHECK(texts.split("train").largest_token == 10);
}

TEST_CASE("several writers fill the same shards, to the same bytes") {
  const TemporaryFolder folder;
  write_shards(folder / "alone");
  write_example_by_two(folder / "shared", in_shards({{"train", 10}, {"test", 4}}, 4));
  for (const fs::path& file : entries_in(folder / "alone")) {
    CHECK(bytes_of(file) == bytes_of(folder / "shared" / file.filename().string()));
  }
}

TEST_CASE("a shard that is missing, foreign, truncated or mixed up is named") {
  const TemporaryFolder folder;
  const fs::path data = folder / "data";
  write_shards(data);
  const fs::path last = data / "train-00003-of-00004.h5", second = data / "train-00001-of-00004.h5";
  CHECK(shards_error(data).empty());

  SECTION("one in the middle is missing") {
    fs::remove(second);
    CHECK_THAT(shards_error(data),
               Contains("train-00001-of-00004.h5: no such file, but split \"train\" has 4"));
  }
  SECTION("the last one of another split is missing") {
    fs::remove(data / "test-00001-of-00002.h5");
    CHECK_THAT(error_of([&] { Dataset::open(data, {"train"}); }),
               Contains("test-00001-of-00002.h5: no such file"));
  }
  SECTION("truncated") {
    fs::resize_file(last, fs::file_size(last) - 7);
    CHECK_THAT(shards_error(data), Contains("train-00003-of-00004.h5: is truncated"));
  }
  SECTION("not HDF5, or another kind of file") {
    std::ofstream(last) << "not HDF5 at all";
    CHECK_THAT(shards_error(data), Contains("train-00003-of-00004.h5: is not an HDF5 file"));
    hdf5::File model = hdf5::File::create(last);
    model.set_attribute("convoke_format", "model");
    model.close();
    CHECK_THAT(shards_error(data),
               Contains("train-00003-of-00004.h5: is an HDF5 file, but not a Convoke dataset"));
  }
  SECTION("one of another dataset") {
    DatasetInfo info = example_info(3);
    info.class_names = {"cat", "dog", "owl"};
    write_shards(folder / "other", info);
    fs::copy_file(folder / "other/train-00003-of-00004.h5", last, fs::copy_options::overwrite_existing);
    CHECK_THAT(shards_error(data), Contains("train-00003-of-00004.h5: is a shard of another dataset than "
                                            "train-00000-of-00004.h5: its class_names differs"));
  }
  SECTION("two are swapped") {
    fs::rename(last, folder / "x");
    fs::rename(second, last);
    fs::rename(folder / "x", second);
    CHECK_THAT(shards_error(data),
               Contains("train-00001-of-00004.h5: its attributes say that it is shard 3 of 4"));
  }
  SECTION("one of another split") {
    fs::copy_file(data / "test-00000-of-00002.h5", last, fs::copy_options::overwrite_existing);
    CHECK_THAT(shards_error(data), Contains("train-00003-of-00004.h5: has no split \"train\""));
  }
  SECTION("two datasets in one folder") {
    fs::copy_file(last, data / "train-00000-of-00007.h5");
    CHECK_THAT(shards_error(data),
               Contains("train-00000-of-00007.h5: does not belong to the 4 shards of split \"train\""));
  }
  SECTION("the error about an invalid label names the shard") {
    const std::uint64_t labels = hdf5::File::open(last).dataset("train/labels").raw_offset().value();
    std::fstream file(last, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(labels + sizeof(std::int32_t)));
    file.put('\3');
    file.close();
    CHECK_THAT(shards_error(data),
               Contains("train-00003-of-00004.h5: /train/labels: sample 1 has label 3, outside 0..2"));
  }
  SECTION("no shards, no such split") {
    fs::create_directory(folder / "empty");
    CHECK_THAT(shards_error(folder / "empty"), Contains("empty: is a folder without dataset shards"));
    write_file(folder / "empty/recipe.toml", "");
    CHECK_THAT(hint_of([&] { Dataset::open(folder / "empty", {"train"}); }), Contains("convoke report"));
    CHECK_THAT(error_of([&] { Dataset::open(data, {"tain"}); }),
               Contains("data: has no split \"tain\" (did you mean \"train\"?)"));
  }
}

TEST_CASE("a writer of shards leaves a complete folder or none") {
  const TemporaryFolder folder;
  const fs::path data = folder / "data";
  const ExampleSplit train = example_split(10, 3);
  {
    auto writer = DatasetWriter::create(data, example_info(3), in_shards({{"train", 10}}, 4));
    writer.write("train", 0, train.samples, train.labels);
    CHECK(fs::exists(folder / "data.part"));
  }
  CHECK(fs::is_empty(folder.path()));
  {
    auto writer = DatasetWriter::create(data, example_info(3), in_shards({{"train", 10}}, 4));
    const FileSizeLimit limit(100);
    CHECK_THAT(error_of([&] { writer.write("train", 0, train.samples, train.labels); }),
               Contains("data.part/train-00000-of-00004.h5: cannot be written: File too large"));
  }
  CHECK(fs::is_empty(folder.path()));

  // The writer removes the remains of a killed writer, and replaces a complete dataset as a whole.
  fs::create_directory(folder / "data.part");
  std::ofstream(folder / "data.part/train-00000-of-00009.h5") << "half";
  write_shards(data);
  CHECK_THAT(error_of([&] { write_shards(data); }), Contains("data: exists already"));
  {
    auto writer = DatasetWriter::create(data, example_info(3), in_shards({{"train", 10}}, 2), true);
    CHECK(shards_error(data).empty());  // the old one stays until the new one is complete
    writer.write("train", 0, train.samples, train.labels);
    writer.finish();
  }
  CHECK(entries_in(data).size() == 2);
  CHECK(entries_in(folder.path()).size() == 1);
  write_example(folder / "file.h5", 3);
  write_shards(folder / "file.h5", example_info(3), true);  // a folder replaces a file
  CHECK(shards_error(folder / "file.h5").empty());

  // A folder with other contents is not touched.
  std::ofstream(data / "thesis.tex") << "years of work";
  CHECK_THAT(error_of([&] { write_shards(data, example_info(3), true); }),
             Contains("data: is a folder that holds more than a dataset: thesis.tex"));
  CHECK(fs::exists(data / "thesis.tex"));

  // A device is not replaced either: root would lose it.
  fs::create_symlink("/dev/full", folder / "device.h5");
  CHECK_THAT(error_of([&] { write_shards(folder / "device.h5", example_info(3), true); }),
             Contains("device.h5: is a device or a pipe"));
  CHECK(fs::is_character_file(folder / "device.h5"));
}

TEST_CASE("names of splits must be valid names of files and groups") {
  const TemporaryFolder folder;
  for (const char* name : {"", "preparation", "a/b", ".."}) {
    CHECK_THAT(error_of([&] {
                 DatasetWriter::create(folder / "x.h5", example_info(1), {{name, 10}});
               }),
               Contains("a split cannot be called"));
  }
  CHECK_THAT(error_of([&] {
               DatasetWriter::create(folder / "x", example_info(1), {{"train", 2, false, false, 3}});
             }),
             Contains("split \"train\" has 2 samples, too few for 3 shards"));
}

TEST_CASE("preparation, assumptions, original sizes and groups are stored") {
  const TemporaryFolder folder;
  const std::int64_t shards = GENERATE(0, 3);
  const fs::path data = folder / "data";
  DatasetInfo info = example_info(1);
  info.preparation = R"({"words": [")" + std::string(200'000, 'x') + R"(", "Löwe"]})";
  info.assumptions = R"([{"what":"kind","taken":"idx"}])";
  const ExampleSplit train = example_split(10, 1);
  std::vector<std::int32_t> groups{0, 1, 0, 2, 7, 1, 0, 3, 4, 7};
  std::vector<std::int32_t> sizes;
  for (std::int32_t i = 0; i < 10; ++i) sizes.insert(sizes.end(), {100 + i, 0});
  std::vector<SplitSize> splits{{"train", 10, false, true}};
  splits.front().groups = true;
  if (shards > 0) splits = in_shards(splits, shards);
  {
    auto writer = DatasetWriter::create(data, info, splits);
    const auto write = [&] { writer.write("train", 0, train.samples, train.labels, {}, sizes, groups); };
    sizes[9] = -1;
    CHECK_THAT(error_of(write), Contains("sample 4 of split \"train\" has original size -1"));
    sizes[9] = 0;
    groups[3] = -2;
    CHECK_THAT(error_of(write),
               Contains("sample 3 of split \"train\" has group -2; groups are numbered from 0"));
    groups[3] = 2;
    write();
    CHECK(writer.finish().preparation == info.preparation);
  }
  CHECK(inspect(data, {"train"}).preparation == info.preparation);
  CHECK(inspect(data, {"train"}).assumptions == info.assumptions);
  CHECK(original_sizes(data, "train") == sizes);
  CHECK(stored_groups(data, "train") == groups);
  for (const std::size_t memory : {std::size_t{0}, Storage::kUnlimited})  // streamed, held
    CHECK(copy(Dataset::open(data, {"train"}, private_storage(memory)).split("train").groups) == groups);
  CHECK_THAT(error_of([&] { inspect(data, {"preparation"}); }), Contains("has no split \"preparation\""));

  write_example(folder / "plain.h5");
  CHECK(inspect(folder / "plain.h5", {"train"}).preparation.empty());
  CHECK(original_sizes(folder / "plain.h5", "train").empty());
  CHECK(stored_groups(folder / "plain.h5", "train").empty());
  CHECK(Dataset::open(folder / "plain.h5", {"train"}).split("train").groups.empty());
  // They do not change the hash that identifies the samples.
  const DatasetInfo plain = [&] {
    auto writer = DatasetWriter::create(folder / "bare.h5", example_info(1), {{"train", 10}});
    writer.write("train", 0, train.samples, train.labels);
    return writer.finish();
  }();
  CHECK(inspect(data, {"train"}).content_hash == plain.content_hash);
}
