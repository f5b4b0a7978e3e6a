#include "convoke/data_prep/sources/source_table.hpp"

#include <sys/stat.h>

#include "../idx_files.hpp"
#include "convoke/data_prep/files/file_stamp.hpp"
#include "convoke/data_prep/files/names.hpp"
#include "convoke/data_prep/pictures/read_picture.hpp"
#include "convoke/data_prep/prepare.hpp"
#include "convoke/pictures/decode.hpp"
#include "pictures/test_pictures.hpp"
#include "put_picture.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke::data_prep;

namespace {

std::string folder_error(const fs::path& folder, const SourceOptions& options = {}) {
  return error_of([&] { open_source(folder, options, "image-folder"); });
}

std::vector<std::string> names_of(const Source& source) {
  std::vector<std::string> names;
  for (const Item& item : source.catalog().items) names.push_back(item.name);
  return names;
}

}  // namespace

TEST_CASE("a folder of class folders is recognized and sorted by the bytes of the names") {
  const TemporaryFolder folder;
  put_picture(folder / "robin/b.png");
  put_picture(folder / "robin/B.PNG");
  put_picture(folder / "robin/2020/spring/x.jpg", "baseline.jpg");
  put_picture(folder / "Eagle owl/a.jpeg", "baseline.jpg");
  put_picture(folder / "Eagle owl/\xC3\xA4.bmp", "rgb.bmp");
  put_picture(folder / "Eagle owl/.hidden.png");
  put_picture(folder / ".thumbnails/x.png");
  write_file(folder / "robin/notes.txt", "no picture");
  write_file(folder / "readme.md", "no picture");
  REQUIRE(is_source(folder.path()));
  const auto source = open_source(folder.path(), {.picture = {.height = 8, .width = 6}});
  const Catalog& catalog = source->catalog();
  CHECK(catalog.classes == 2);
  CHECK(catalog.class_names == std::vector<std::string>{"Eagle owl", "robin"});
  CHECK(names_of(*source) == std::vector<std::string>{"Eagle owl/a.jpeg", "Eagle owl/\xC3\xA4.bmp",
                                                      "robin/2020/spring/x.jpg", "robin/B.PNG",
                                                      "robin/b.png"});
  CHECK(catalog.items[1].label == 0);
  CHECK(catalog.items[2].label == 1);
  for (const Item& item : catalog.items) {
    CHECK(item.split.empty());
    CHECK(item.fault.empty());
  }
  const SampleFormat format = source->format();
  CHECK(format.shape == convoke::Shape{3, 8, 6});
  CHECK(format.preparation == R"({"kind":"picture","fit":"area","height":8,"width":6,"channels":3})");
  std::vector<std::byte> sample(8 * 6 * 3);
  for (std::size_t i = 0; i < catalog.items.size(); ++i) {
    const Original original = source->read(i, sample);
    CHECK(original.height == (catalog.items[i].name.find("j") != std::string::npos ? 39 : 13));
    CHECK(original.bytes > 100);
  }
}

TEST_CASE("pictures of one size are stored pixel for pixel; other pictures need a given size") {
  const TemporaryFolder folder;
  put_picture(folder / "a/1.png", "rgba.png");
  put_picture(folder / "b/1.bmp", "rgb.bmp");
  const auto source = open_source(folder.path());
  for (const auto& [option, hint] : {std::pair("--group", "--group-by"), {"--scale", "table, io-traces"}}) {
    CHECK_THAT(refusal_of([&] {
                 open_source(folder.path(), {.given = {"--size", option}});
               }),
               StartsWith(option) && Contains("kind image-folder") && Contains(hint));
  }
  CHECK(source->format().shape == convoke::Shape{3, 13, 18});
  std::vector<std::byte> first(13 * 18 * 3), second(first.size());
  source->read(0, first);
  source->read(1, second);
  CHECK(first == second);  // the same picture, one of them with alpha

  put_picture(folder / "b/2.jpg", "baseline.jpg");
  const auto mixed = open_source(folder.path());
  const std::string error = error_of([&] { mixed->read(2, first); });
  CHECK_THAT(error, Contains("b/2.jpg: has 39 x 54 pixels, but a/1.png has 13 x 18"));
}

TEST_CASE("channels and size come from the first readable picture") {
  const TemporaryFolder folder;
  write_file((fs::create_directories(folder / "a"), folder / "a/0.png"), "no picture");
  put_picture(folder / "a/1.png", "gray.png");
  put_picture(folder / "b/1.png", "rgba.png");
  const auto source = open_source(folder.path());
  CHECK(source->format().shape == convoke::Shape{1, 13, 18});
  std::vector<std::byte> sample(13 * 18);
  CHECK_THAT(error_of([&] { source->read(0, sample); }),
             Contains("a/0.png: cannot be decoded: it is not a JPEG, PNG or BMP"));
  source->read(1, sample);
  source->read(2, sample);
  for (const char* name : {"a/1.png", "b/1.png"}) write_file(folder / name, "");
  CHECK_THAT(folder_error(folder.path()), Contains("a/0.png: cannot be decoded"));
}

TEST_CASE("a folder with folders for splits is read, as in BIRDS-525 and PlantVillage") {
  const TemporaryFolder folder;
  for (const char* split : {"train", "valid", "Test"}) {
    put_picture(folder / split / "crow/1.jpg", "baseline.jpg");
    put_picture(folder / split / "ibis/1.jpg", "baseline.jpg");
  }
  put_picture(folder / "train/crow/2.jpg", "baseline.jpg");
  put_picture(folder / "images to predict/x/1.jpg", "baseline.jpg");
  const auto source = open_source(folder.path());
  CHECK(names_of(*source) == std::vector<std::string>{"train/crow/1.jpg", "train/crow/2.jpg",
                                                      "train/ibis/1.jpg", "valid/crow/1.jpg",
                                                      "valid/ibis/1.jpg", "Test/crow/1.jpg",
                                                      "Test/ibis/1.jpg"});
  CHECK(source->catalog().items[3].split == "validation");
  CHECK(source->catalog().items[6].split == "test");
  CHECK(source->catalog().items[6].label == 1);
  CHECK(source->catalog().class_names == std::vector<std::string>{"crow", "ibis"});
  CHECK_THAT(source->catalog().provenance, Contains("without images to predict"));

  SECTION("class folders that differ are named") {
    fs::rename(folder / "valid/ibis", folder / "valid/Ibis");
    CHECK_THAT(folder_error(folder.path()), Contains("valid: has other classes than ") &&
                                                Contains("train: it lacks ibis; it has also Ibis"));
  }
  SECTION("an empty class") {
    fs::remove(folder / "Test/crow/1.jpg");
    CHECK_THAT(folder_error(folder.path()), Contains("Test/crow: the class is empty"));
  }
  SECTION("the same split twice") {
    put_picture(folder / "validation/crow/1.jpg", "baseline.jpg");
    CHECK_THAT(folder_error(folder.path()), Contains("are both folders of the split validation"));
  }
}

TEST_CASE("folders that are not a data set are refused, with what is missing") {
  const TemporaryFolder folder;
  CHECK_FALSE(is_source(folder.path()));
  CHECK_THAT(folder_error(folder.path()),
             Contains("has 0 class folders; a dataset needs at least 2 classes"));
  put_picture(folder / "only/1.png");
  CHECK(is_source(folder.path()));
  CHECK_THAT(folder_error(folder.path()),
             Contains("has 1 class folder, only; a dataset needs at least 2 classes"));
  fs::create_directories(folder / "none/deep");
  CHECK_THAT(folder_error(folder.path()), Contains("none: the class is empty: its folder has no picture"));
  put_picture(folder / "none/1.png");
  CHECK(folder_error(folder.path()).empty());
  CHECK_THAT(folder_error(folder.path(), {.class_names = {"a"}}),
             Contains("has 2 classes, but 1 class names are given"));
  const auto renamed = open_source(folder.path(), {.class_names = {"x", "y"}});
  CHECK(renamed->catalog().class_names == std::vector<std::string>{"x", "y"});
  CHECK_THAT(to_text(renamed->catalog().assumptions), Contains("none is called x, only is called y"));
  const auto reordered = open_source(folder.path(), {.class_names = {"only", "none"}});
  CHECK(reordered->catalog().class_names == std::vector<std::string>{"only", "none"});
  CHECK(names_of(*reordered).front() == "none/1.png");
  CHECK(reordered->catalog().items.front().label == 1);
  CHECK_THAT(folder_error(folder.path(), {.class_names = {"only", "nine"}}),
             Contains("\"none\" is not one of the 2 class names (did you mean \"nine\"?)"));
  CHECK_THAT(folder_error(folder.path(), {.picture = {.fit = "squeeze"}}),
             Contains("unknown fit \"squeeze\""));
  CHECK_THAT(folder_error(folder.path(), {.picture = {.channels = 4}}),
             Contains("pictures cannot become samples of 4 channels"));
  CHECK_THAT(folder_error(folder.path(), {.picture = {.height = 30'000}}),
             Contains("samples cannot have 30000 x 30000 pixels"));
  CHECK_THAT(folder_error(folder.path(), {.picture = {.width = 5}}),
             Contains("samples cannot have 0 x 5 pixels"));
}

TEST_CASE("pictures that cannot be samples are items with a fault") {
  const TemporaryFolder folder;
  put_picture(folder / "a/1.png");
  put_picture(folder / "b/1.png");
  put_picture(folder / "sheet.png");
  write_file(folder / "b/2.webp", "RIFF");
  const auto source = open_source(folder.path());
  REQUIRE(names_of(*source) == std::vector<std::string>{"a/1.png", "b/1.png", "b/2.webp", "sheet.png"});
  CHECK(source->catalog().items[1].fault.empty());
  CHECK(source->catalog().items[2].fault == "is a picture in a format that is not supported");
  CHECK(source->catalog().items[3].fault == "is not in a class folder");
}

TEST_CASE("symbolic links are followed, but not in circles") {
  const TemporaryFolder folder;
  put_picture(folder / "elsewhere/1.png");
  put_picture(folder / "set/b/1.png");
  fs::create_directory_symlink(folder / "elsewhere", folder / "set/a");
  fs::create_symlink(folder / "set/b/1.png", folder / "set/b/2.png");
  const auto source = open_source(folder / "set");
  CHECK(names_of(*source) == std::vector<std::string>{"a/1.png", "b/1.png", "b/2.png"});
  CHECK(files_below(folder / "set").size() == 3);

  SECTION("a dangling link, or a link to itself, is a picture that cannot be read") {
    fs::create_symlink(folder / "gone.png", folder / "set/b/3.png");
    fs::create_symlink("4.png", folder / "set/b/4.png");
    const auto broken = open_source(folder / "set");
    std::vector<std::byte> sample(13 * 18 * 3);
    CHECK_THAT(error_of([&] { broken->read(3, sample); }), Contains("3.png: cannot be opened: No such file"));
    CHECK_THAT(error_of([&] { broken->read(4, sample); }),
               Contains("4.png: cannot be opened: Too many levels"));
  }
  SECTION("a link to an enclosing folder") {
    fs::create_directory_symlink("..", folder / "set/b/up");
    CHECK_THAT(folder_error(folder / "set"), Contains("b/up: is a symbolic link to an enclosing folder"));
    CHECK(files_below(folder / "set").size() == 3);
  }
}

TEST_CASE("a pipe or a folder with a picture's name is a sample that cannot be read") {
  const TemporaryFolder folder;
  put_picture(folder / "set/a/1.png");
  put_picture(folder / "set/b/1.png");
  REQUIRE(::mkfifo((folder / "set/b/2.png").c_str(), 0600) == 0);
  fs::create_directory(folder / "set/b/3.png");
  PrepareOptions options{folder / "set", folder / "set.h5"};
  options.allow_duplicates = true;
  const std::string error = error_of([&] { prepare(options); });
  CHECK_THAT(error, Contains("2 of 4 samples cannot be read"));
  CHECK_THAT(error, Contains("b/2.png: is a named pipe (FIFO), not a file"));
  CHECK_THAT(error, Contains("b/3.png: is a folder, not a picture"));
  CHECK_THAT(error_of([&] { open_source(folder / "set/b/2.png"); }), Contains("is a named pipe (FIFO)"));
  // Also if the size of the pictures is not known yet.
  fs::remove(folder / "set/a/1.png");
  REQUIRE(::mkfifo((folder / "set/a/0.png").c_str(), 0600) == 0);
  options.samples.picture = {.height = 8, .width = 8};
  CHECK_THAT(error_of([&] { prepare(options); }), Contains("a/0.png: is a named pipe (FIFO)"));
}

TEST_CASE("if no picture can be read, the reasons are told, with and without a size") {
  const TemporaryFolder folder;
  for (const char* name : {"a/1.png", "a/2.webp", "a/4.png", "b/3.jpg", "b/5.jpg", "b/6.bmp", "b/7.bmp"}) {
    write_file(folder / "set" / name, "no picture");
  }
  PrepareOptions options{folder / "set", folder / "set.h5"};
  const auto expect_reasons = [&] {
    const std::string error = error_of([&] { prepare(options); });
    CHECK_THAT(error, Contains(options.source.string()));
    CHECK_THAT(error, Contains("a/1.png: ") &&
                          Contains("a/2.webp: is a picture in a format that is not supported") &&
                          Contains("b/3.jpg: "));
  };
  expect_reasons();
  options.samples.picture = {.height = 8, .width = 8};
  expect_reasons();
  options.samples.picture.channels = 3;
  expect_reasons();
  options.skip_bad = true;
  expect_reasons();
  CHECK_FALSE(fs::exists(options.output));
}

TEST_CASE("a repeated run decodes pictures again that have changed") {
  const TemporaryFolder folder;
  put_picture(folder / "set/a/1.jpg", "baseline.jpg");
  put_picture(folder / "set/a/2.png", "large.png");
  put_picture(folder / "set/b/1.png", "rgba.png");
  write_file(folder / "set/b/2.png", "no picture");
  PrepareOptions options{folder / "set", folder / "set/set.h5"};  // set.h5.work is no class
  options.samples.picture = {.height = 8, .width = 8, .channels = 3};
  CHECK_THAT(error_of([&] { prepare(options); }), Contains("1 of 4 samples cannot be read"));
  for (const char* const name : {"set/a/1.jpg", "set/b/2.png"}) fs::remove(folder / name);
  put_picture(folder / "set/a/1.jpg", "exif3.jpg");
  put_picture(folder / "set/b/2.png", "bits.png");
  CHECK(prepare(options).taken_up == 2);
  options.output = folder / "fresh.h5";
  prepare(options);
  CHECK(bytes_of(folder / "set/set.h5") == bytes_of(options.output));
  options.output = folder / "set/a/1.jpg";
  options.overwrite = true;
  CHECK_THAT(error_of([&] { prepare(options); }), Contains("1.jpg: is also read"));
}

TEST_CASE("a folder that is no source is told with what it holds") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of([&] { open_source(folder.path()); }), Contains("source of samples: it is empty"));
  CHECK_THAT(hint_of([&] { open_source(folder.path()); }),
             StartsWith("pictures and texts need a sub-folder"));
  for (int i = 0; i < 8; ++i) fs::create_directory(folder / ("c" + std::to_string(i)));
  CHECK_THAT(error_of([&] { open_source(folder.path()); }),
             Contains("it holds c0/ (empty), c1/ (empty)") && Contains("c4/ (empty) and 3 more"));
}

TEST_CASE("class folders that look alike are spelled out") {
  const TemporaryFolder folder;
  const std::string nfc = "caf\xC3\xA9", nfd = "cafe\xCC\x81";
  for (const std::string& name :
       {"train/" + nfc, std::string("train/tea"), "test/" + nfd, std::string("test/tea")})
    put_picture(folder / "set" / name / "1.png");
  CHECK_THAT(folder_error(folder / "set"), Contains("\"caf<U+00E9>\" and \"cafe<U+0301>\" look alike") ||
                                               Contains("\"cafe<U+0301>\" and \"caf<U+00E9>\" look alike"));
  fs::rename(folder / "set/test" / nfd, folder / "set/train" / nfd);
  CHECK_THAT(folder_error(folder / "set/train"), Contains("look alike"));
}

TEST_CASE("names in any encoding stay different and are shown as UTF-8") {
  CHECK(printable("plain name.png") == "plain name.png");
  CHECK(printable("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\xA6") == "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\xA6");
  CHECK(printable("gr\xFCn") == "gr\\xFCn");
  CHECK(printable("a\nb\x7F") == "a\\x0Ab\\x7F");
  CHECK(printable("\\x0A") == "\\x5Cx0A");
  CHECK(printable("\xE2\x82") == "\\xE2\\x82");                    // truncated
  CHECK(printable("\xC0\xAF") == "\\xC0\\xAF");                    // overlong
  CHECK(printable("\xED\xA0\x80") == "\\xED\\xA0\\x80");           // surrogate
  CHECK(printable("\xF4\x90\x80\x80") == "\\xF4\\x90\\x80\\x80");  // beyond Unicode

  const TemporaryFolder folder;
  put_picture(folder / "gr\xFCn/\xE4.png");
  put_picture(folder / "\xE6\x97\xA5\xE6\x9C\xAC/\n.png");
  const auto source = open_source(folder.path());
  CHECK(source->catalog().class_names == std::vector<std::string>{"gr\\xFCn", "\xE6\x97\xA5\xE6\x9C\xAC"});
  CHECK(names_of(*source) ==
        std::vector<std::string>{"gr\\xFCn/\\xE4.png", "\xE6\x97\xA5\xE6\x9C\xAC/\\x0A.png"});
  std::vector<std::byte> sample(13 * 18 * 3);
  source->read(0, sample);
  source->read(1, sample);
}

TEST_CASE("a folder of pictures becomes a dataset, which stores how to prepare other pictures") {
  const TemporaryFolder folder;
  put_picture(folder / "set/train/a/1.jpg", "baseline.jpg");
  put_picture(folder / "set/train/b/1.png", "large.png");
  put_picture(folder / "set/test/a/1.png", "rgba.png");
  put_picture(folder / "set/test/b/1.jpg", "exif6.jpg");
  write_file(folder / "set/train/b/2.jpg", bytes_of(kPictures / "baseline.jpg").substr(0, 900));
  PrepareOptions options{folder / "set", folder / "set.h5"};
  options.samples.picture = {.height = 8, .width = 6, .fit = "crop"};
  options.order = Order::kSource;
  CHECK_THAT(error_of([&] { prepare(options); }),
             Contains("2.jpg: cannot be decoded: the JPEG is truncated"));
  CHECK_FALSE(fs::exists(folder / "set.h5"));

  options.skip_bad = true;
  const PrepareReport report = prepare(options);
  CHECK(report.left_out == 1);
  CHECK_THAT(bytes_of(report.list), Contains("train/b/2.jpg") && Contains("the JPEG is truncated"));
  const auto dataset = convoke::data::Dataset::open(folder / "set.h5", {"train", "test"});
  CHECK(dataset.info().class_names == std::vector<std::string>{"a", "b"});
  CHECK(dataset.info().sample_shape == convoke::Shape{3, 8, 6});
  const PictureReader again(picture_options(dataset.info().preparation, "set.h5"));
  const auto check = [&](const char* split, std::size_t sample, const char* picture) {
    std::vector<std::uint8_t> expected(8 * 6 * 3);
    again.read(convoke::pictures::read_encoded(kPictures / picture), picture,
               std::as_writable_bytes(std::span(expected)));
    const auto values = dataset.split(split).values<std::uint8_t>().subspan(sample * expected.size());
    CHECK(std::equal(expected.begin(), expected.end(), values.begin()));
    CHECK(dataset.split(split).labels[sample] == static_cast<std::int32_t>(sample));
  };
  REQUIRE(dataset.split("train").count() == 2);
  check("train", 0, "baseline.jpg");
  check("train", 1, "large.png");
  check("test", 0, "rgba.png");
  check("test", 1, "exif6.jpg");
}
