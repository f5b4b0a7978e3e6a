#include "convoke/data_prep/sources/source_table.hpp"

#include "../idx_files.hpp"
#include "convoke/data_prep/prepare.hpp"
#include "put_picture.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke::data_prep;

namespace {

std::unique_ptr<Source> open_text(const fs::path& file, const std::string& text,
                                  const SourceOptions& options = {}) {
  write_file(file, text);
  return open_source(file, options, "manifest");
}

std::string error_in(const fs::path& file, const std::string& text, const SourceOptions& options = {}) {
  return error_of([&] { open_text(file, text, options); });
}

// Returns "name:label:split" for each item, "name!fault" for an item with a fault.
std::vector<std::string> items_of(const Source& source) {
  std::vector<std::string> lines;
  for (const Item& item : source.catalog().items) {
    lines.push_back(item.fault.empty() ? item.name + ":" + std::to_string(item.label) + ":" + item.split
                                       : item.name + "!" + item.fault);
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("birds.csv of BIRDS-525 is read: paths, labels and splits have usual names") {
  const TemporaryFolder folder;
  put_picture(folder / "train/ABBOTTS BABBLER/001.png");
  put_picture(folder / "train/ZEBRA DOVE/001.png");
  put_picture(folder / "valid/ZEBRA DOVE/1.png");
  put_picture(folder / "test/ABBOTTS BABBLER/1.png");
  put_picture(folder / "images to predict/1.png");
  const std::string text =
      "class id,filepaths,labels,data set,scientific name\r\n"
      "1.0,train/ZEBRA DOVE/001.png,ZEBRA DOVE,train,GEOPELIA STRIATA\r\n"
      "0.0,train/ABBOTTS BABBLER/001.png,\"ABBOTTS BABBLER\",train,MALACOCINCLA ABBOTTI\r\n"
      "1.0,valid/ZEBRA DOVE/1.png,ZEBRA DOVE,valid,GEOPELIA STRIATA\r\n"
      "0.0,test/ABBOTTS BABBLER/1.png,ABBOTTS BABBLER,test,MALACOCINCLA ABBOTTI\r\n";
  const auto source = open_text(folder / "birds.csv", text);
  CHECK(items_of(*source) ==
        Lines{"train/ZEBRA DOVE/001.png:1:train", "train/ABBOTTS BABBLER/001.png:0:train",
              "valid/ZEBRA DOVE/1.png:1:validation", "test/ABBOTTS BABBLER/1.png:0:test"});
  CHECK(source->catalog().class_names == Lines{"ABBOTTS BABBLER", "ZEBRA DOVE"});
  CHECK(source->format().shape == convoke::Shape{3, 13, 18});
  std::vector<std::byte> sample(13 * 18 * 3);
  CHECK(source->read(3, sample).width == 18);

  // A class name that only other splits have is an error.
  const std::string wrong = text + "1.0,images to predict/1.png,ZEBRA DOVES,test,x\r\n";
  CHECK_THAT(
      error_in(folder / "birds.csv", wrong),
      Contains("birds.csv: images to predict/1.png has the class \"ZEBRA DOVES\", which no training row "
               "has (did you mean \"ZEBRA DOVE\"?)"));

  // Nor does a row need a split if others are drawn.
  put_picture(folder / "train/ZEBRA DOVE/002.png");
  write_file(folder / "birds.csv", wrong + "1.0,train/ZEBRA DOVE/002.png,ZEBRA DOVE,,x\r\n");
  PrepareOptions drawn{folder / "birds.csv", folder / "birds.h5"};
  drawn.splits.parts = {{"train", 0.5}, {"test", 0.5}};
  drawn.dry_run = true;
  const PrepareReport report = prepare(drawn);
  CHECK(report.splits.at(0).samples + report.splits.at(1).samples == 6);
}

TEST_CASE("trainLabels.csv of EyePACS and train.csv of APTOS are read: names without endings") {
  const TemporaryFolder folder;
  put_picture(folder / "train/10_left.jpeg");
  put_picture(folder / "train/10_right.jpeg");
  const auto eyepacs = open_text(folder / "trainLabels.csv", "image,level\n10_left,0\n10_right,3\n");
  CHECK(items_of(*eyepacs) == Lines{"train/10_left.jpeg:0:", "train/10_right.jpeg:1:"});

  put_picture(folder / "aptos/train_images/000c1434d8d7.png");
  put_picture(folder / "aptos/train_images/001639a390f0.png");
  put_picture(folder / "aptos/test_images/0005cfc8afb6.png");
  const auto aptos = open_text(folder / "aptos/train.csv",
                               "\xEF\xBB\xBFid_code,diagnosis\n000c1434d8d7,1\n001639a390f0,0\n");
  CHECK(items_of(*aptos) == Lines{"train_images/000c1434d8d7.png:1:", "train_images/001639a390f0.png:0:"});

  // The pictures are in another folder.
  const auto moved = open_text(folder / "labels.csv", "id_code,diagnosis\n000c1434d8d7,1\n001639a390f0,0\n",
                               {.columns = {.images_folder = (folder / "aptos/train_images").string()}});
  CHECK(items_of(*moved) ==
        Lines{"aptos/train_images/000c1434d8d7.png:1:", "aptos/train_images/001639a390f0.png:0:"});
  CHECK_THAT(error_in(folder / "labels.csv", "id_code,diagnosis\na,1\n",
                      {.columns = {.images_folder = (folder / "none").string()}}),
             Contains("none: is not a folder of pictures"));
}

TEST_CASE("labels.csv of ELPV is read: no header, blanks, columns by position, probabilities as classes") {
  const TemporaryFolder folder;
  for (int i = 1; i <= 4; ++i) put_picture(folder / ("images/cell000" + std::to_string(i) + ".png"));
  const std::string text =
      "images/cell0001.png  1.0                 mono\n"
      "images/cell0002.png  0.0                 mono\n"
      "images/cell0003.png  0.3333333333333333  poly\n"
      "images/cell0004.png  0.6666666666666666  poly\n";
  write_file(folder / "labels.csv", text);
  REQUIRE(is_source(folder / "labels.csv"));
  for (const ColumnOptions& columns : {ColumnOptions{.path = "1", .label = "2", .group = "3"},
                                       ColumnOptions{.label = "2", .group = "column_3"}}) {
    const auto source = open_source(folder / "labels.csv", {.columns = columns});
    CHECK(items_of(*source) == Lines{"images/cell0001.png:3:", "images/cell0002.png:0:",
                                     "images/cell0003.png:1:", "images/cell0004.png:2:"});
    CHECK(source->catalog().items[0].group == "mono");
    CHECK(source->catalog().items[3].group == "poly");
  }
  CHECK_THAT(error_in(folder / "labels.csv", text), Contains("labels.csv: has no column of labels"));
  CHECK_THAT(error_in(folder / "labels.csv", text, {.columns = {.label = "4"}}),
             Contains("labels.csv: has no column \"4\""));
}

TEST_CASE("columns are named by the options; weights are read") {
  const TemporaryFolder folder;
  put_picture(folder / "a.png");
  put_picture(folder / "b.png");
  const auto source =
      open_text(folder / "list.csv", "what;where;how much;who\nx;a.png;2.5;p1\ny;b.png;0.5;p2\n",
                {.columns = {.path = "where", .label = "what", .group = "who", .weight = "how much"}});
  CHECK(items_of(*source) == Lines{"a.png:0:", "b.png:1:"});
  CHECK(source->catalog().weighted);
  CHECK(source->catalog().items[0].weight == 2.5F);
  CHECK(source->catalog().items[1].group == "p2");
  CHECK_THAT(error_in(folder / "list.csv", "what,where\nx,a.png\n", {.columns = {.path = "were"}}),
             Contains("list.csv: has no column \"were\" (did you mean \"where\"?)"));
}

TEST_CASE("rows and pictures that cannot be samples are items with a fault") {
  const TemporaryFolder folder;
  for (const char* name : {"images/a.png", "images/b.png", "images/c.png", "images/.d.png"})
    put_picture(folder / name);
  write_file(folder / "images/notes.txt", "no picture");
  const auto source = open_text(folder / "list.csv",
                                "image,label,split,weight of it\n"
                                "a,x,train,1\n"
                                "b,y,valid\n"
                                ",y,train,1\n"
                                "a,y,train,1\n"
                                "gone,x,train,1\n"
                                "\n"
                                "b,,train,1\n"
                                "b,y,,1\n"
                                "images/b.png,y,train,1\n",
                                {.columns = {.weight = "weight of it"}});
  const std::string places = folder.path().string() + ", " + (folder / "images").string();
  CHECK(items_of(*source) ==
        Lines{"images/a.png:0:train", "line 3!has 3 cells, but the first row has 4", "line 4!has no path",
              "line 5!a: is already listed in line 2", "line 6!gone: is not in " + places,
              "line 8!has no label", "images/b.png!has no split",
              "line 10!images/b.png: is already listed in line 9", "images/c.png!is not listed in list.csv"});
}

TEST_CASE("where a picture is found does not depend on the row before") {
  const TemporaryFolder folder;
  for (const char* name : {"images/a.jpg", "b.png", "b.jpg", "images/b.jpg"}) put_picture(folder / name);
  const auto source =
      open_text(folder / "list.csv", "image,label\na,x\nb,y\n" + std::string(300, 'c') + ",y\n");
  CHECK(source->catalog().items[1].name == "b.png");
  CHECK_THAT(source->catalog().items[2].fault, Contains("is not in"));  // a name longer than any file's
}

TEST_CASE("manifests that are not a data set are refused") {
  const TemporaryFolder folder;
  put_picture(folder / "a.png");
  put_picture(folder / "b.png");
  const fs::path file = folder / "list.csv";
  CHECK_THAT(error_in(file, ""), Contains("list.csv: is empty"));
  CHECK_THAT(error_in(file, "image,label\n"), Contains("list.csv: has no rows"));
  CHECK_THAT(error_in(file, "picture,label\na,x\n"), Contains("list.csv: has no column of picture paths"));
  CHECK_THAT(error_in(file, "image,what\na,x\n"), Contains("list.csv: has no column of labels"));
  CHECK_THAT(error_in(file, "image,label\na,x\nb,x\n"),
             Contains("list.csv: column \"label\": has one class, \"x\""));
  CHECK_THAT(error_in(file, "image,label\na,\"x\nb,y\n"),
             Contains("list.csv:2: cell 2 begins with a quote that is not closed"));
  CHECK_THAT(error_in(file, "image,label\na,cat\nb,girafe\n", {.class_names = {"cat", "giraffe"}}),
             Contains("list.csv: column \"label\": \"girafe\" is not one of the 2 class names (did you mean "
                      "\"giraffe\"?)"));
  // There is no picture from which to take the size.
  CHECK_THAT(error_in(file, "image,label\nc,x\nd,y\n"),
             Contains("none of its 2 rows can be used; line 2: c: is not in"));
  CHECK_THAT(error_in(file, "image,label\nC:\\c.png,x\nC:\\d.png,y\n"),
             EndsWith("write / instead of \\ in paths"));
}

TEST_CASE("a CSV of texts or numbers is not a manifest") {
  const TemporaryFolder folder;
  for (const char* text : {"review,sentiment\nfine,1\n", "x1,x2,label\n1,2,0\n", "1,2,3\n4,5,6\n", ""}) {
    write_file(folder / "list.csv", text);
    CHECK_FALSE(is_manifest(folder / "list.csv"));
  }
  write_file(folder / "list.txt", "image,label\na,1\n");
  CHECK_FALSE(is_manifest(folder / "list.txt"));
  CHECK_FALSE(is_manifest(folder.path()));
}

TEST_CASE("the kind of a CSV, and of its folder, is found with the options of reading") {
  const TemporaryFolder folder;
  put_picture(folder / "a.png");
  write_file(folder / "list.csv", "image^label\na^x\nb^y\n");
  for (const fs::path& path : {folder.path(), folder / "list.csv"}) {
    CHECK(assumed_kind(path, {.reading = {.separator = "^"}}, "").taken.starts_with("manifest"));
    CHECK_THAT(error_of([&] { assumed_kind(path, {.reading = {.separator = "^^"}}, ""); }),
               Contains("the separator \"^^\" is not one character"));
  }
}

TEST_CASE("a folder stands for the CSV in it that lists its pictures, or for its only table") {
  const TemporaryFolder folder;
  const auto same = [&](const fs::path& csv) {
    REQUIRE(is_source(folder.path()));
    const auto by_folder = open_source(folder.path()), by_csv = open_source(csv);
    REQUIRE(by_folder->catalog().items.size() == by_csv->catalog().items.size());
    CHECK(by_folder->catalog().provenance == by_csv->catalog().provenance);
    CHECK(by_folder->catalog().class_names == by_csv->catalog().class_names);
  };
  SECTION("EyePACS: a folder of pictures that is not a class") {
    put_picture(folder / "train/10_left.png");
    put_picture(folder / "train/10_right.png");
    write_file(folder / "trainLabels.csv", "image,level\n10_left,0\n10_right,2\n");
    same(folder / "trainLabels.csv");
    write_file(folder / "eyes.h5.findings.csv", "finding,sample\nduplicate,a\n");  // written by prepare
    same(folder / "trainLabels.csv");
  }
  SECTION("APTOS: two folders of pictures that are not classes, and tables without labels") {
    put_picture(folder / "train_images/a.png");
    put_picture(folder / "train_images/b.png");
    put_picture(folder / "test_images/c.png");
    write_file(folder / "train.csv", "id_code,diagnosis\na,0\nb,2\n");
    write_file(folder / "test.csv", "id_code\nc\n");
    same(folder / "train.csv");
    SECTION("several CSVs that fit are named") {
      write_file(folder / "sample_submission.csv", "id_code,diagnosis\nc,0\n");
      CHECK(is_source(folder.path()));
      CHECK_THAT(error_of([&] { open_source(folder.path()); }),
                 Contains("several of its CSV files may list its samples"));
      CHECK_THAT(hint_of([&] { open_source(folder.path()); }),
                 Contains("sample_submission.csv, ") && Contains("/train.csv"));
    }
  }
  SECTION("a single table") {
    write_file(folder / "traces.csv", "size,distance,label\n1,2,a\n3,4,b\n");
    same(folder / "traces.csv");
  }
  SECTION("class folders need no CSV") {
    put_picture(folder / "cats/a.png");
    put_picture(folder / "dogs/b.png");
    write_file(folder / "owners.csv", "file,label\ncats/a.png,x\ndogs/b.png,y\n");
    CHECK(open_source(folder.path())->catalog().class_names == std::vector<std::string>{"cats", "dogs"});
    CHECK(open_source(folder.path(), {}, "manifest")->catalog().class_names ==
          std::vector<std::string>{"x", "y"});
  }
}
