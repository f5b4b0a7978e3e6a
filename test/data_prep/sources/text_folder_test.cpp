#include "convoke/data_prep/sources/text_folder.hpp"

#include "convoke/data_prep/prepare.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "source_values.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using convoke::Shape;
using namespace convoke::data_prep;

TEST_CASE("reviews in aclImdb's folders become tokens") {
  const TemporaryFolder folder;
  write_file(folder / "train/pos/0_9.txt", "Good film.<br />Good!");
  write_file(folder / "train/pos/1_7.txt", "fine");
  write_file(folder / "train/neg/0_2.txt", "bad film");
  write_file(folder / "train/unsup/0_0.txt", "whatever");
  write_file(folder / "train/urls_pos.txt", "http://");
  write_file(folder / "test/neg/0_1.txt", "a bad one");
  write_file(folder / "test/pos/0_8.txt", "");
  write_file(folder / "README", "about");
  CHECK(is_text_folder(folder.path()));
  const auto source = open_source(folder.path());
  const Catalog& catalog = source->catalog();
  CHECK(catalog.class_names == std::vector<std::string>{"neg", "pos"});
  REQUIRE(catalog.items.size() == 5);
  CHECK(catalog.items[0].name == "test/neg/0_1.txt");
  CHECK(catalog.items[0].split == "test");
  CHECK(catalog.items[1].fault == "has no text");
  CHECK(catalog.items[2].name == "train/neg/0_2.txt");
  CHECK(catalog.items[4].label == 1);
  REQUIRE(catalog.notes.size() == 1);
  CHECK_THAT(catalog.notes[0], Contains("unsup is left out"));

  const std::size_t training[] = {2, 3, 4};
  source->fit(training);
  CHECK(source->format().shape == Shape{3});
  CHECK(values_of<std::int32_t>(*source, 0) == std::vector<std::int32_t>{1, 5, 1});  // good, film, fine, bad
}

TEST_CASE("folders of texts need no splits") {
  const TemporaryFolder folder;
  write_file(folder / "ham/a.txt", "hello");
  write_file(folder / "spam/b.txt", "buy");
  write_file(folder / "spam/._b.txt", "hidden");
  write_file(folder / ".trash/c.txt", "hidden");
  const auto source = open_source(folder.path());
  CHECK(source->catalog().items.size() == 2);
  CHECK(source->catalog().items[1].split.empty());
  CHECK(source->catalog().items[1].label == 1);
  const auto reordered = open_source(folder.path(), {.class_names = {"spam", "ham"}});
  CHECK(labels_of(*reordered) == Labels{1, 0});
}

TEST_CASE("texts in UTF-16 and Windows-1252 have the words of UTF-8") {
  const TemporaryFolder folder;
  std::string utf16 = "\xFF\xFE";
  for (const char c : std::string("gr\xFCn")) utf16 += std::string(1, c) + '\0';
  write_file(folder / "a/1.txt", utf16);
  write_file(folder / "a/2.txt", "gr\xFCn");
  write_file(folder / "b/1.txt", "gr\u00FCn");
  const auto source = open_source(folder.path());
  fit_all(*source);
  CHECK_THAT(source->format().preparation, Contains(R"("vocabulary":["","<unk>","grün"])"));
  CHECK_THAT(to_text(source->catalog().assumptions),
             Contains("warning: utf-16le in 1 file, utf-8 in 1 file, windows-1252 in 1 file"));
  write_file(folder / "a/1.txt", utf16.substr(2));  // without its mark
  const auto unmarked = open_source(folder.path());
  const std::size_t only[] = {0};
  CHECK_THAT(error_of([&] { unmarked->fit(only); }), Contains("1.txt:1: has a byte 0"));
  fit_all(*unmarked);
  CHECK_THAT(refusal_of([&] { values_of<std::int32_t>(*unmarked, 0); }),
             Contains("1.txt:1: has a byte 0") && Contains("--encoding utf-16le"));
  fit_all(*open_source(folder.path(), {.reading = {.encoding = "utf-16le"}}));
}

TEST_CASE("a damaged text ends the run, or is left out and listed") {
  const TemporaryFolder folder;
  write_file(folder / "set/train/neg/1.txt", "bad film");
  write_file(folder / "set/train/pos/1.txt", "good film");
  write_file(folder / "set/train/pos/2.txt", std::string("fi\0ne", 5));
  write_file(folder / "set/test/neg/1.txt", "a bad one");
  write_file(folder / "set/test/pos/1.txt", "a good one");
  PrepareOptions options{folder / "set", folder / "set.h5"};
  CHECK_THAT(error_of([&] { prepare(options); }), Contains("2.txt:1: has a byte 0"));
  options.skip_bad = true;
  const PrepareReport report = prepare(options);
  CHECK(report.left_out == 1);
  CHECK_THAT(bytes_of(report.list), Contains("train/pos/2.txt"));
}

TEST_CASE("folders of texts that are not a dataset are refused") {
  const TemporaryFolder folder;
  CHECK_FALSE(is_text_folder(folder.path()));
  write_file(folder / "train/pos/a.txt", "good");
  CHECK_THAT(error_of([&] { open_source(folder.path()); }), Contains("has texts of 1 classes"));
  write_file(folder / "train/neg/a.txt", "bad");
  write_file(folder / "test/pos/a.txt", "good");
  CHECK_THAT(error_of([&] { open_source(folder.path()); }), Contains("train has neg, pos"));
  write_file(folder / "test/neg/a.txt", "bad");
  const auto source = open_source(folder.path());
  fs::remove(folder / "test/neg/a.txt");
  std::vector<std::byte> sample(4);
  const std::size_t training[] = {2, 3};
  source->fit(training);
  CHECK_THAT(error_of([&] { source->read(0, sample); }), Contains("test/neg/a.txt: cannot be read"));
}
