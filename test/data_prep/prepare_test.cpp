#include "convoke/data_prep/prepare.hpp"

#include "convoke/core/checksum.hpp"
#include "idx_files.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"
#include "thread_team.hpp"

using convoke::Shape;
using namespace convoke::data_prep;
namespace data = convoke::data;

TEST_CASE("prepare turns IDX files into a dataset") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), GENERATE(false, true));
  std::vector<std::int64_t> steps;
  PrepareOptions options{folder.path(), folder / "small.h5"};
  options.samples.class_names = {"a", "b", "c", "d"};
  options.progress = [&](std::int64_t done, std::int64_t total) {
    CHECK(total == 37);
    steps.push_back(done);
  };
  const PrepareReport report = prepare(options);
  CHECK(report.info.classes == 4);
  CHECK(report.splits.size() == 2);
  CHECK(report.bytes == fs::file_size(folder / "small.h5"));
  CHECK(steps.back() == 37);

  const auto dataset = data::Dataset::open(folder / "small.h5", {"train", "test"});
  CHECK(dataset.info().sample_shape == Shape{1, 4, 5});
  CHECK(dataset.info().class_names == options.samples.class_names);
  CHECK(dataset.info().content_hash == report.info.content_hash);
  CHECK_THAT(dataset.info().provenance, Contains("IDX files train-images-idx3-ubyte"));
  const auto train = dataset.split("train").values<std::uint8_t>();
  CHECK(std::vector(train.begin(), train.end()) == small_images(30));
  const auto labels = small_labels(7);
  CHECK(std::equal(labels.begin(), labels.end(), dataset.split("test").labels.begin()));
  CHECK(dataset.split("test").count() == 7);
}

TEST_CASE("a team writes the same bytes as one process") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), true);
  prepare({folder.path(), folder / "one.h5"});
  for (const int count : {3, 40}) {  // 40: more than there are samples
    std::vector<PrepareReport::Work> done;
    as_team(count, [&](const Team& member) {
      const PrepareReport report = prepare({folder.path(), folder / "many.h5", "", true}, member);
      if (member.index == 0) done = report.work;
    });
    CHECK(bytes_of(folder / "one.h5") == bytes_of(folder / "many.h5"));
    REQUIRE(static_cast<int>(done.size()) == count);
    std::int64_t samples = 0;
    for (const PrepareReport::Work& work : done) samples += work.samples;
    CHECK(samples == 37);
  }
}

TEST_CASE("a team prepares every kind of source as one process does") {
  const std::vector<SplitPart> halves{{"train", 0.5}, {"test", 0.5}};
  const PictureOptions small{.height = 4, .width = 4, .channels = 1};
  struct Kind {
    const char* source;
    std::vector<SplitPart> parts = {};
    PictureOptions picture = {};
    bool allow_duplicates = false, skip_bad = false;
  };
  for (const Kind& kind :
       {Kind{.source = "cifar10", .allow_duplicates = true}, Kind{"color.npz"}, Kind{"tokens.npz", halves},
        Kind{"imagenet"}, Kind{.source = "flowers", .picture = small}, Kind{"shards"},
        Kind{"named.tar.gz", halves}, Kind{.source = "faults.tfrecord", .parts = halves, .skip_bad = true}}) {
    INFO(kind.source);
    const TemporaryFolder folder;
    PrepareOptions options{.source = source_path("test/data_prep/files/containers/") + kind.source,
                           .output = folder / "one.h5",
                           .skip_bad = kind.skip_bad,
                           .allow_duplicates = kind.allow_duplicates};
    options.samples.picture = kind.picture;
    options.splits.parts = kind.parts;
    prepare(options);
    options.output = folder / "three.h5";
    as_team(3, [&](const Team& member) { prepare(options, member); });
    CHECK(bytes_of(folder / "one.h5").size() > 1000);
    CHECK(bytes_of(folder / "three.h5") == bytes_of(folder / "one.h5"));
  }
}

TEST_CASE("an interrupted run is resumed") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  prepare({folder.path(), folder / "whole.h5"});

  PrepareOptions options{folder.path(), folder / "small.h5"};
  struct Cut {};
  options.progress = [](std::int64_t done, std::int64_t) {
    if (done == 20) throw Cut{};
  };
  CHECK_THROWS_AS(prepare(options), Cut);
  CHECK_FALSE(fs::exists(folder / "small.h5"));
  CHECK(fs::exists(folder / "small.h5.work"));

  options.progress = {};
  SECTION("with the same options") {
    const PrepareReport report = prepare(options);
    CHECK(report.taken_up == 20);
    CHECK(report.work.at(0).samples == 17);
    CHECK(bytes_of(folder / "small.h5") == bytes_of(folder / "whole.h5"));
    CHECK_FALSE(fs::exists(folder / "small.h5.work"));
  }
  SECTION("not while another run uses the folder") {
    std::string why;
    options.progress = [&](std::int64_t, std::int64_t) {
      PrepareOptions second{folder.path(), folder / "small.h5"};
      if (why.empty()) why = error_of([&] { prepare(second); });
    };
    prepare(options);
    CHECK_THAT(why, Contains("small.h5.work: is in use: another run prepares the same dataset"));
  }
  SECTION("not with other options") {
    options.splits.parts = {{"train", 0.5}, {"test", 0.5}};
    CHECK(prepare(options).taken_up == 0);
  }
}

TEST_CASE("unreadable samples end the run, or are left out and listed") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  const auto images = folder / "t10k-images-idx3-ubyte";
  write_file(images, bytes_of(images).substr(0, 16 + 20 * 4));  // 4 of 7 images
  PrepareOptions options{folder.path(), folder / "small.h5"};
  CHECK_THAT(error_of([&] { prepare(options); }), Contains("t10k-images-idx3-ubyte: is truncated"));

  options.skip_bad = true;
  const PrepareReport report = prepare(options);
  CHECK(report.left_out == 3);
  CHECK(report.splits.at(1).samples == 4);
  CHECK_THAT(bytes_of(report.list), Contains("unreadable,test[4],test,0,,,,"));
  const auto dataset = data::Dataset::open(folder / "small.h5", {"test"});
  const auto values = dataset.split("test").values<std::uint8_t>();
  CHECK(std::vector(values.begin(), values.end()) == small_images(4, 30));
  CHECK_THAT(dataset.info().preparation, Contains("\"left_out\":3"));
}

TEST_CASE("every process finds every unreadable sample before the run ends, and reads fixed ones") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  const auto images = folder / "t10k-images-idx3-ubyte";
  const std::string whole = bytes_of(images);
  write_file(images, whole.substr(0, 16 + 20 * 4));  // 4 of 7 images
  const auto train = folder / "train-images-idx3-ubyte";
  const std::string all_training = bytes_of(train);
  write_file(train, all_training.substr(0, 16 + 20 * 10));  // 10 of 30
  PrepareOptions options{folder.path(), folder / "small.h5"};
  const int count = GENERATE(1, 3);
  std::vector<std::string> errors(static_cast<std::size_t>(count));
  as_team(count, [&](const Team& member) {
    errors[static_cast<std::size_t>(member.index)] = error_of([&] { prepare(options, member); });
  });
  for (const std::string& error : errors) {
    CHECK_THAT(error, Contains("23 of 37 samples cannot be read:\n  train[10]: "));
    CHECK_THAT(error, Contains("train-images-idx3-ubyte: is truncated"));
    CHECK_THAT(error, Contains("\n  and 3 more"));
    CHECK(std::count(error.begin(), error.end(), '\n') >= 21);
    CHECK(error == errors[0]);
  }
  CHECK_FALSE(fs::exists(options.output));
  const std::string list = bytes_of(folder / "small.h5.findings.csv");
  CHECK(std::count(list.begin(), list.end(), '\n') == 1 + 23);

  write_file(images, whole);
  write_file(train, all_training);
  const PrepareReport report = prepare(options);
  CHECK(report.taken_up == 0);  // any image of a file that changed may be another one
  CHECK(report.left_out == 0);
  CHECK(report.list.empty());
}

TEST_CASE("a sample in two splits is an error unless it is allowed") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  write_file(folder / "t10k-images-idx3-ubyte", small_image_file(7, 25));  // 5 of them are training images
  PrepareOptions options{folder.path(), folder / "small.h5"};
  CHECK_THAT(
      error_of([&] { prepare(options); }),
      Contains(
          "5 samples are in two splits, so the test results would be invalid: train[25] of \"train\" equals "
          "test[0] of \"test\""));
  CHECK_FALSE(fs::exists(options.output));
  CHECK_THAT(bytes_of(folder / "small.h5.findings.csv"),
             Contains("duplicate,train[25],train,1,test[0],test,0,equal values\n"));
  options.allow_duplicates = true;
  const PrepareReport report = prepare(options);
  CHECK(report.duplicates == 5);
  CHECK(report.leaks == 5);
  CHECK(report.splits.at(1).samples == 7);
  CHECK(report.taken_up == 37);  // the decoded samples were kept
}

TEST_CASE("prepare names the classes that a split lacks") {
  const TemporaryFolder folder;
  write_file(folder / "t.csv", "split,x,label\ntrain,1,rose\ntrain,2,lily\ntest,3,rose\n");
  const PrepareReport report = prepare({folder / "t.csv", folder / "t.h5"});
  REQUIRE_FALSE(report.notes.empty());
  CHECK(report.notes.back() == "split test has no samples of 1 of 2 classes: lily");
  CHECK(report.absent.empty());
}

TEST_CASE("samples listed class by class are shuffled by default") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  std::vector<std::uint8_t> sorted = small_labels(30);
  std::sort(sorted.begin(), sorted.end());
  write_file(folder / "train-labels-idx1-ubyte", idx_bytes(0x801, {30}, sorted));
  PrepareOptions options{folder.path(), folder / "small.h5", "", true};
  const auto labels = [&] {
    const auto dataset = data::Dataset::open(options.output, {"train"});
    const auto view = dataset.split("train").labels;
    return std::vector<std::uint8_t>(view.begin(), view.end());
  };
  CHECK(prepare(options).shuffled);
  std::vector<std::uint8_t> mixed = labels();
  CHECK(mixed != sorted);
  CHECK(std::is_permutation(mixed.begin(), mixed.end(), sorted.begin()));
  options.order = Order::kSource;
  CHECK_FALSE(prepare(options).shuffled);
  CHECK(labels() == sorted);
  options.order = Order::kShuffled;
  options.splits.seed = 2;
  CHECK(prepare(options).shuffled);
  CHECK(labels() != mixed);
  CHECK_THAT(error_of([] { order_from("sorted"); }), Contains("unknown order \"sorted\""));
}

TEST_CASE(
    "classes may be listed in any order, and more than once, to be shuffled by default; mixed ones are kept") {
  const TemporaryFolder folder;
  const auto shuffled = [&](const auto& label_of) {
    std::ofstream rows(folder / "rows.csv");
    rows << "x,label\n";
    for (int i = 0; i < 400; ++i) rows << i << ',' << label_of(i) << '\n';
    rows.close();
    return prepare({.source = folder / "rows.csv", .output = folder / "rows.h5", .overwrite = true}).shuffled;
  };
  CHECK(shuffled([](int i) { return i < 200 ? "b" : "a"; }));
  CHECK(shuffled([](int i) {
    return i / 100 % 2 == 0 ? "b" : "a";
  }));  // as two halves of a data set, one after the other
  CHECK_FALSE(shuffled([](int i) { return i % 2 == 0 ? "b" : "a"; }));
  CHECK_FALSE(shuffled([](int i) { return i * 7919 % 1009 % 2 == 0 ? "b" : "a"; }));
  CHECK_FALSE(shuffled([](int i) { return i / 4 % 2 == 0 ? "b" : "a"; }));
}

TEST_CASE("a dataset may be a folder of shards, the same for any number of processes") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), true);
  prepare({folder.path(), folder / "one.h5"});
  const auto whole = data::Dataset::open(folder / "one.h5", {"train", "test"});
  for (const int count : {1, 3}) {
    const auto output = folder / ("shards" + std::to_string(count));
    as_team(count, [&](const Team& member) {
      prepare({.source = folder.path(), .output = output, .shards = 4}, member);
    });
    const auto parts = data::Dataset::open(output, {"train", "test"});
    CHECK(parts.info().content_hash == whole.info().content_hash);
    CHECK(fs::exists(output / "train-00003-of-00004.h5"));
    CHECK(bytes_of(output / "train-00002-of-00004.h5") ==
          bytes_of(folder / "shards1" / "train-00002-of-00004.h5"));
  }
}

TEST_CASE("prepare does not touch existing files and leaves no incomplete file") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), true);
  PrepareOptions options{folder.path(), folder / "small.h5"};
  prepare(options);
  const std::string before = bytes_of(options.output);
  CHECK_THAT(error_of([&] { prepare(options); }), Contains("small.h5: exists already"));
  CHECK(bytes_of(options.output) == before);

  options.samples.class_names = {"a", "b"};
  options.overwrite = true;
  CHECK_THAT(error_of([&] { prepare(options); }),
             Contains(folder.path().string() + ": 2 class names for 4 classes"));
  options.samples.class_names.clear();

  // Damage that is found only while images are read.
  const auto images = folder / "t10k-images-idx3-ubyte.gz";
  write_file(images, bytes_of(images).substr(0, 60));
  CHECK_THAT(error_of([&] { prepare(options); }), Contains("t10k-images-idx3-ubyte.gz: is truncated"));
  CHECK(bytes_of(options.output) == before);
  CHECK_FALSE(fs::exists(folder / "small.h5.part"));
}

TEST_CASE("the real MNIST, if it is available") {
  const char* const root = std::getenv("CONVOKE_DATA");
  if (root == nullptr || !fs::exists(fs::path(root) / "mnist")) {
    WARN("CONVOKE_DATA/mnist does not exist: the real files are not tested");
    return;
  }
  const TemporaryFolder folder;
  const PrepareReport report = prepare({fs::path(root) / "mnist", folder / "mnist.h5"});
  CHECK(report.info.sample_shape == Shape{1, 28, 28});
  CHECK(report.info.classes == 10);
  // The usual normalization of MNIST: 0.1307 and 0.3081 of 255.
  CHECK(report.info.channel_mean.at(0) / 255 == Approx(0.1307).margin(5e-5));
  CHECK(report.info.channel_std.at(0) / 255 == Approx(0.3081).margin(5e-5));

  const auto dataset = data::Dataset::open(folder / "mnist.h5", {"train", "test"});
  CHECK(dataset.split("train").count() == 60000);
  CHECK(dataset.split("test").count() == 10000);
  // zlib.crc32 of the values in the four unpacked files, after their headers.
  CHECK(convoke::crc32(data::bytes_of(dataset.split("train").samples)) == 0xF3639B56);
  CHECK(convoke::crc32(data::bytes_of(dataset.split("test").samples)) == 0xE4CA5F57);
  const auto first = dataset.split("train").labels.first(5);
  CHECK(std::vector(first.begin(), first.end()) == std::vector<std::int32_t>{5, 0, 4, 1, 9});
}
