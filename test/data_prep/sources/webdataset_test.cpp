#include "convoke/data_prep/sources/source_table.hpp"

#include "../idx_files.hpp"
#include "source_values.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/shell.hpp"

using convoke::Shape;
using namespace convoke::data_prep;

TEST_CASE("shards with ustar's, GNU's and pax's names are read, splits by name") {
  const auto source = open_source(kContainers / "shards");
  CHECK(source->format().shape == Shape{3, 6, 5});
  CHECK(source->catalog().classes == 3);
  CHECK(source->catalog().class_names.empty());
  CHECK(splits_of(*source) ==
        Names{"test", "test", "train", "train", "train", "train", "train", "validation", "validation"});
  const std::vector<int> numbers{7, 8, 0, 1, 2, 3, 4, 5, 6};
  for (std::size_t i = 0; i < 9; ++i) {
    INFO(source->catalog().items[i].name);
    CHECK(values_of<std::uint8_t>(*source, i) == picture_values(numbers[i]));
    CHECK(source->catalog().items[i].label == numbers[i] % 3);
  }
  const std::string folders =
      "a folder with a long name/a folder with a long name/a folder with a long name/a folder with a long "
      "name/a folder with a long name/";
  CHECK(source->catalog().items[1].name == "birds-test-000000.tar: " + folders + "0008");
  CHECK(source->catalog().items[2].name == "birds-train-000000.tar: ./0000");
  CHECK(source->catalog().items[5].name == "birds-train-000001.tar: " + folders + "0003");
  CHECK(source->catalog().items[7].name == "birds-val-000000.tar: ü" + folders + "0005");
}

TEST_CASE("a gzipped shard is read; labels that are texts name the classes") {
  const auto source = open_source(kContainers / "named.tar.gz");
  CHECK(source->catalog().class_names == Names{"crow", "kite", "wren"});
  CHECK(labels_of(*source) == Labels{2, 1, 0, 2, 1, 0});
  CHECK(values_of<std::uint8_t>(*source, 5) == picture_values(5));
  CHECK(values_of<std::uint8_t>(*source, 1) == picture_values(1));
}

TEST_CASE("options give other endings of pictures and labels") {
  CHECK_THAT(error_in(kContainers / "endings.tgz"),
             Contains("no sample has a picture; the endings are grade, json, left.png, right.png"));
  SourceOptions options;
  options.columns.path = "right.png";
  CHECK_THAT(error_in(kContainers / "endings.tgz", options), Contains("no sample has a label"));
  options.columns.label = "grade";
  const auto source = open_source(kContainers / "endings.tgz", options);
  CHECK(labels_of(*source) == Labels{0, 1, 2, 0});
  CHECK(values_of<std::uint8_t>(*source, 2) == picture_values(12));
}

TEST_CASE("shards that are not a dataset are refused; a missing part of one sample is its fault") {
  CHECK_THAT(error_in(kContainers / "no_label.tar"),
             Contains("no_label.tar: no sample has a label; the endings are json, png"));
  CHECK_THAT(error_in(kContainers / "no_picture.tar"),
             Contains("no sample has a picture; the endings are cls, txt"));
  CHECK_THAT(error_in(kContainers / "one_class.tar"),
             Contains("has one class, \"1\"; a dataset needs at least 2 classes"));
  const auto source = open_source(kContainers / "faults.tar");
  CHECK(faults_of(*source) ==
        Names{"faults.tar: b: has no picture", "faults.tar: c: has no label (.cls)",
              "faults.tar: d: has several pictures",
              "faults.tar: e: its label is -7; labels must be 0, 1, 2, ..., below 1000000"});
  REQUIRE(source->catalog().items.size() == 6);
  CHECK(values_of<std::uint8_t>(*source, 5) == picture_values(5));
}

TEST_CASE("endings are named in any case; hidden files are no shards") {
  const TemporaryFolder folder;
  fs::copy_file(kContainers / "faults.tar", folder / "a.tar");
  write_file(folder / "._a.tar", "of macOS");
  const SourceOptions upper{.columns = {.path = "PNG", .label = "Cls"}};
  const SourceOptions lower{.columns = {.path = "png", .label = "cls"}};
  CHECK(faults_of(*open_source(folder.path(), upper)) == faults_of(*open_source(folder / "a.tar", lower)));
}

TEST_CASE("damaged shards are refused, each with its reason") {
  const TemporaryFolder folder;
  const fs::path file = folder / "x.tar";
  const std::string good = bytes_of(kContainers / "shards/birds-train-000000.tar");
  const auto error_for = [&](const std::string& bytes) {
    write_file(file, bytes);
    return error_in(file);
  };
  REQUIRE(error_for(good).empty());
  const std::size_t second = good.find("./0001.png");  // its header

  SECTION("truncated: in a header, in a file, between two") {
    for (const std::size_t bytes : {second + 100, second + 600, second}) {
      CHECK_THAT(error_for(good.substr(0, bytes)), Contains("x.tar: is truncated: its end mark is missing"));
    }
  }
  SECTION("a changed bit in a header") {
    std::string bad = good;
    bad[second + 3] = '9';
    CHECK_THAT(error_for(bad),
               Contains("x.tar: is damaged: there is no valid member at byte " + std::to_string(second)));
  }
  SECTION("not a tar archive") {
    CHECK_THAT(error_for("<html>404 not found</html>"), Contains("x.tar: is not a tar archive"));
    CHECK_THAT(error_for(""), Contains("x.tar: is not a tar archive"));
    CHECK_THAT(error_for(std::string(1024, '\0')), Contains("x.tar: has no samples"));
  }
  SECTION("gzipped and truncated") {
    write_gzip(folder / "whole.tar.gz", good);
    REQUIRE(error_in(folder / "whole.tar.gz").empty());
    const std::string packed = bytes_of(folder / "whole.tar.gz");
    CHECK_THAT(error_for(packed.substr(0, packed.size() / 2)),
               Contains("x.tar: is truncated: its packed bytes end after "));
  }
  SECTION("damaged attributes of pax") {
    const std::string pax = bytes_of(kContainers / "shards/birds-val-000000.tar");
    REQUIRE(error_for(pax).empty());
    std::string bad = pax;
    const std::size_t list = bad.find(" path=");
    bad[list + 5] = '-';
    CHECK_THAT(error_for(bad), Contains("x.tar: is damaged: the attributes at byte 512 are invalid"));
    bad = pax;
    bad[list - 1] = 'x';
    CHECK_THAT(error_for(bad), Contains("x.tar: is damaged: the attributes at byte 512 are invalid"));
  }
}

TEST_CASE("GNU tar's archives are read, in each of its formats") {
  const TemporaryFolder folder;
  const std::string name = std::string(90, 'n') + "/" + std::string(120, 'm');
  fs::create_directories(folder / std::string(90, 'n'));
  REQUIRE(
      shell("tar -xf " + (kContainers / "named.tar.gz").string() + " -C " + folder.path().string()).code ==
      0);
  for (const char* const ending : {".png", ".cls"})
    fs::rename(folder / ("0003" + std::string(ending)), folder / (name + ending));
  for (const std::string format : {"gnu", "pax", "oldgnu", "posix"}) {
    REQUIRE(shell("cd " + folder.path().string() + " && tar --format=" + format + " -cf ../" +
                  folder.path().filename().string() + "/all.tar --exclude=all.tar --sort=name .")
                .code == 0);
    const auto source = open_source(folder / "all.tar");
    REQUIRE(source->catalog().items.size() == 6);
    const auto last = faults_of(*source);
    CHECK(last.empty());
    CHECK(source->catalog().items[5].name == "all.tar: ./" + name);
    CHECK(values_of<std::uint8_t>(*source, 5) == picture_values(3));
    CHECK(source->catalog().items[5].label == 2);
  }
}
