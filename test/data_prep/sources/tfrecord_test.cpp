#include "convoke/data_prep/sources/source_table.hpp"

#include <cstring>

#include "../idx_files.hpp"
#include "source_values.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using convoke::Shape;
using namespace convoke::data_prep;

TEST_CASE("TFRecords like ImageNet's are read: numbered files, splits by name, names next to numbers") {
  const auto source = open_source(kContainers / "imagenet");
  const Catalog& catalog = source->catalog();
  CHECK(source->format().shape == Shape{3, 6, 5});
  CHECK(catalog.classes == 3);
  CHECK(catalog.class_names == Names{"cat", "dog", "owl"});
  CHECK(labels_of(*source) == Labels{0, 1, 2, 0, 1, 2, 0, 1, 2, 0});
  CHECK(catalog.items[5].name == "train-00001-of-00002[1]");
  CHECK(catalog.items[7].split == "train");
  CHECK(catalog.items[8].split == "validation");
  CHECK_THAT(catalog.provenance, Contains("features image/encoded and image/class/label"));
  for (int i = 0; i < 10; ++i)
    CHECK(values_of<std::uint8_t>(*source, static_cast<std::size_t>(i)) == picture_values(i));
  CHECK(values_of<std::uint8_t>(*source, 2) == picture_values(2));  // goes back, to another file
}

TEST_CASE("given names that are the texts next to numbered labels order the classes") {
  SourceOptions options;
  options.class_names = {"owl", "cat", "dog"};
  const auto source = open_source(kContainers / "imagenet", options);
  CHECK(source->catalog().class_names == options.class_names);
  CHECK(labels_of(*source) == Labels{1, 2, 0, 1, 2, 0, 1, 2, 0, 1});
  options.class_names = {"Eule", "Hund", "Katze"};
  CHECK(labels_of(*open_source(kContainers / "imagenet", options)) == Labels{0, 1, 2, 0, 1, 2, 0, 1, 2, 0});
  options.class_names = {"owl", "cat", "hound"};
  CHECK_THAT(error_in(kContainers / "imagenet", options),
             Contains("\"dog\" is not one of the 3 class names"));
}

TEST_CASE("gzipped TFRecords in folders by split are read; a text next to a number names the class") {
  const auto source = open_source(kContainers / "flowers");
  CHECK(source->catalog().class_names == Names{"rose", "daisy"});
  CHECK(splits_of(*source) ==
        Names{"test", "test", "test", "train", "train", "train", "validation", "validation", "validation"});
  CHECK(source->catalog().items[4].name == "train/00-6x5-2.tfrec.gz[1]");
  const std::vector<int> numbers{6, 7, 8, 0, 1, 2, 3, 4, 5};
  for (std::size_t i = 0; i < 9; ++i) {
    CHECK(values_of<std::uint8_t>(*source, i) == picture_values(numbers[i]));
    CHECK(source->catalog().items[i].label == numbers[i] % 2);
  }
  CHECK(values_of<std::uint8_t>(*source, 3) == picture_values(0));
}

TEST_CASE("texts as labels name the classes, and a gzipped file need not end in .gz") {
  const auto source = open_source(kContainers / "texts.tfrecord");
  CHECK(source->catalog().class_names == Names{"crow", "kite", "wren"});
  CHECK(labels_of(*source) == Labels{2, 1, 0, 2, 1});
  CHECK(values_of<std::uint8_t>(*source, 4) == picture_values(4));
}

TEST_CASE("options choose between several features, or name unusual ones") {
  SourceOptions options;
  CHECK_THAT(error_in(kContainers / "both.tfrecord"),
             Contains("both.tfrecord[0]: both image and image_raw fit"));
  options.columns.path = "image_raw";
  CHECK_THAT(error_in(kContainers / "both.tfrecord", options),
             Contains("both.tfrecord[0]: both label and target fit"));
  options.columns.label = "target";
  CHECK(error_in(kContainers / "both.tfrecord", options).empty());

  CHECK_THAT(error_in(kContainers / "named.tfrecords"),
             Contains("named.tfrecords: no record has a picture; "
                      "features of the first one: grade, label, left, right"));
  options.columns.path = "right";
  options.columns.label = "grade";
  const auto source = open_source(kContainers / "named.tfrecords", options);
  CHECK(labels_of(*source) == Labels{0, 1, 0, 1});  // stored as floats
  CHECK(values_of<std::uint8_t>(*source, 3) == picture_values(13));
  options.columns.label = "score";
  CHECK_THAT(error_in(kContainers / "named.tfrecords", options),
             Contains("no record has a label called score; "));
}

TEST_CASE("TFRecords that are not a dataset are refused, each with its reason") {
  CHECK_THAT(error_in(kContainers / "no_picture.tfrecord"),
             Contains("no record has a picture; features of the first one: label, text"));
  CHECK_THAT(error_in(kContainers / "no_label.tfrecord"),
             Contains("no record has a label; features of the first one: height, image"));
  CHECK_THAT(error_in(kContainers / "one_class.tfrecord"),
             Contains("has one class, \"1\"; a dataset needs at least 2 classes"));
  CHECK_THAT(error_in(kContainers / "other_names.tfrecord"),
             Contains("class 0 is called daisy here and rose before"));
  CHECK_THAT(error_in(kContainers / "no_example.tfrecord"),
             Contains("no_example.tfrecord[0]: is not a tf.train.Example"));
}

TEST_CASE("a missing part of one record is its fault") {
  const auto source = open_source(kContainers / "faults.tfrecord");
  CHECK(faults_of(*source) ==
        Names{"faults.tfrecord[1]: has no picture; features: label",
              "faults.tfrecord[2]: has no label; features: image", "faults.tfrecord[3]: has 2 labels",
              "faults.tfrecord[4]: its label is -1; labels must be 0, 1, 2, ..., below 1000000"});
  CHECK(values_of<std::uint8_t>(*source, 6) == picture_values(6));
  CHECK_THAT(error_of([&] { values_of<std::uint8_t>(*source, 5); }), Contains("faults.tfrecord[5]"));
}

TEST_CASE("damaged TFRecords are refused, each with its reason") {
  const TemporaryFolder folder;
  const fs::path file = folder / "x.tfrecord";
  const std::string good = bytes_of(kContainers / "imagenet/train-00000-of-00002");
  const auto with_bit = [&](std::size_t at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    return bad;
  };
  const auto error_for = [&](const std::string& bytes) {
    write_file(file, bytes);
    return error_in(file);
  };
  REQUIRE(error_for(good).empty());
  std::uint64_t length = 0;
  std::memcpy(&length, good.data(), sizeof(length));
  const std::size_t second = 12 + length + 4;

  SECTION("the checksum of a length") {
    CHECK_THAT(error_for(with_bit(0)),
               Contains("x.tfrecord: record 0: the checksum (CRC-32C) of its length is wrong"));
    CHECK_THAT(error_for(with_bit(second + 9)),
               Contains("record 1: the checksum (CRC-32C) of its length is wrong"));
  }
  SECTION("the checksum of data is its record's fault") {
    write_file(file, with_bit(second + 40));
    const auto source = open_source(file);
    CHECK(faults_of(*source) == Names{"x.tfrecord[1]: its checksum (CRC-32C) is wrong"});
    CHECK(values_of<std::uint8_t>(*source, 2) == picture_values(2));
  }
  SECTION("truncated") {
    CHECK_THAT(error_for(good.substr(0, good.size() - 1)), Contains("record 3: is truncated: its "));
    CHECK_THAT(error_for(good.substr(0, second + 5)),
               Contains("record 1: is truncated: its length is cut off"));
  }
  SECTION("gzipped and truncated, or corrupt") {
    write_gzip(folder / "whole.tfrecord", good);
    REQUIRE(error_in(folder / "whole.tfrecord").empty());
    const std::string packed = bytes_of(folder / "whole.tfrecord");
    for (const std::size_t bytes : {packed.size() / 2, packed.size() - 1, packed.size() - 8}) {
      CHECK_THAT(error_for(packed.substr(0, bytes)), Contains("x.tfrecord: is truncated"));
    }
    std::string bad = packed;
    bad[packed.size() - 6] = static_cast<char>(bad[packed.size() - 6] ^ 1);
    CHECK_THAT(error_for(bad), Contains("x.tfrecord: is corrupt: "));
  }
  SECTION("empty, or another kind of file") {
    CHECK_THAT(error_for(""), Contains("x.tfrecord: has no samples"));
    CHECK_THAT(error_for("<html>404 not found</html>"),
               Contains("record 0: the checksum (CRC-32C) of its length is wrong"));
  }
}
