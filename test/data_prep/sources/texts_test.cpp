#include "convoke/data_prep/sources/source_table.hpp"

#include "convoke/data_prep/prepare.hpp"
#include "csv_file.hpp"
#include "source_values.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using convoke::Shape;
using namespace convoke::data_prep;
using Tokens = std::vector<std::int32_t>;

namespace {

constexpr const char* kReviews =
    "review,sentiment\n"
    "\"Good, \"\"good\"\" film.<br />See\nit!\",positive\n"
    "bad bad bad,negative\n"
    "the end,positive\n";

}  // namespace

TEST_CASE("a CSV of reviews is recognized and becomes tokens") {
  const Csv csv(kReviews);
  CHECK(is_text_csv(csv.file));
  const auto source = csv.open();
  const Catalog& catalog = source->catalog();
  CHECK(catalog.classes == 2);
  CHECK(catalog.class_names == std::vector<std::string>{"negative", "positive"});
  REQUIRE(catalog.items.size() == 3);
  CHECK(catalog.items[0].name == "line 2");
  CHECK(catalog.items[1].name == "line 4");  // the first text holds a line end
  CHECK(catalog.items[0].label == 1);
  CHECK(catalog.items[1].label == 0);
  CHECK(catalog.items[0].split.empty());
  CHECK(catalog.notes.empty());
  CHECK_THAT(catalog.provenance, Contains("column review of"));

  const std::size_t training[] = {0, 1};  // the third text is not for training
  source->fit(training);
  const SampleFormat format = source->format();
  CHECK(format.shape == Shape{5});
  CHECK(format.type == convoke::data::SampleType::kInt32);
  CHECK(format.vocabulary == 7);
  CHECK_THAT(format.preparation, Contains(R"("vocabulary":["","<unk>","bad","good","see","it","film"])"));
  CHECK(values_of<std::int32_t>(*source, 2) == Tokens{1, 1, 0, 0, 0});  // in any order
  CHECK(values_of<std::int32_t>(*source, 0) == Tokens{3, 3, 6, 4, 5});
  CHECK(values_of<std::int32_t>(*source, 1) == Tokens{2, 2, 2, 0, 0});
  std::vector<std::byte> sample(5 * sizeof(std::int32_t));
  const Original original = source->read(1, sample);
  CHECK(original.height == 3);
  CHECK(original.bytes == 11);
}

TEST_CASE("texts, labels and splits are found by their usual names, or named") {
  const Csv csv(
      "id;Tweet;Split;Class;other;who\n1;one word;train;0;a;x\n2;two "
      "words;valid;1;b;y\n3;three;Test;1;c;x\n");
  const auto source = csv.open();
  CHECK(source->catalog().items[1].split == "validation");
  CHECK(source->catalog().items[2].split == "test");
  CHECK(source->catalog().class_names.empty());  // the labels are 0 and 1
  const auto named = csv.open(
      {.columns = {.label = "other", .group = "who", .text = "Tweet"}, .class_names = {"c", "b", "a"}});
  CHECK(named->catalog().items[0].label == 2);
  CHECK(named->catalog().items[0].group == "x");
  CHECK(named->catalog().class_names[0] == "c");
  CHECK_THAT(csv.error({.columns = {.text = "Twet"}}, "text-csv"),
             Contains("table.csv: has no column \"Twet\" (did you mean \"Tweet\"?)"));
  CHECK_THAT(csv.error({.columns = {.label = "klass"}}),
             Contains("has no column \"klass\" (did you mean \"Class\"?)"));
  CHECK_THAT(csv.error({.columns = {.group = "patient"}}), Contains("has no column \"patient\""));
  CHECK_THAT(csv.error({.columns = {.label = "other"}, .class_names = {"a", "b"}}),
             Contains("\"c\" is not one of the 2 class names"));
}

TEST_CASE("a column with a name of splits but other contents is ignored") {
  const Csv csv("text,set,label\na,x-ray,1\nb,ct,0\n");
  CHECK(csv.open()->catalog().items[0].split.empty());
  CHECK_THAT(
      to_text(csv.open()->catalog().assumptions),
      Contains("warning: column \"set\" has none: \"ct\" is no usual name of a split (--split-column)") &&
          Contains("not used   \"set\""));
  CHECK(csv.open({.columns = {.split = "set"}})->catalog().items[0].split == "x-ray");
}

TEST_CASE("one unusual value in a column of splits does not mix the others") {
  const std::string rows = "text,label,split\na,1,train\nb,0,Train\nc,1,test\nd,0,test\n";
  const auto unlabeled = Csv(rows + "e,,unsup\n").open();
  CHECK(unlabeled->catalog().items[2].split == "test");
  CHECK_THAT(to_text(unlabeled->catalog().assumptions), Contains("column \"split\": by its name"));
  const auto held = Csv(rows + "e,1,holdout\n").open();
  CHECK(held->catalog().items[1].split == "train");
  CHECK(held->catalog().items[4].split == "holdout");
  CHECK_THAT(to_text(held->catalog().assumptions),
             Contains("warning: column \"split\": \"holdout\" is no usual name of a split"));
}

TEST_CASE("rows that cannot be samples have a fault") {
  const Csv csv(
      "text,label,weight\ngood,1,1\n,0,1\nno label,,1\n  "
      ",1,2\ntoo,many,cells,here\nfew\nbad,0,heavy\nbad,0,0.5\n");
  const auto source = csv.open({.columns = {.weight = "weight"}});
  std::vector<std::string> faults;
  for (const Item& item : source->catalog().items) faults.push_back(item.fault);
  CHECK(faults == std::vector<std::string>{"", "has no text", "has no label", "has no text",
                                           "has 4 cells, but the first row has 3",
                                           "has 1 cells, but the first row has 3", "has the weight \"heavy\"",
                                           ""});
  CHECK(source->catalog().weighted);
  CHECK(source->catalog().items[7].weight == 0.5F);

  const auto commas =
      Csv("text;label;weight\na;1;0,5\nb;0;1,25\nc;0;1e39\n").open({.columns = {.weight = "weight"}});
  CHECK(commas->catalog().items[1].weight == 1.25F);
  CHECK(commas->catalog().items[2].fault == "has the weight \"1e39\"");
}

TEST_CASE("a CSV that is not UTF-8 is Windows-1252, as Python's codec reads it") {
  const Csv csv("text,label\ncaf\xE9 noir \x80,1\nplain,0\n");
  const auto source = csv.open();
  fit_all(*source);
  CHECK_THAT(source->format().preparation, Contains("\"caf\u00E9\"") && Contains("\"\u20AC\""));
  const auto forced = csv.open({.reading = {.encoding = "utf-8"}});
  fit_all(*forced);
  CHECK_THAT(forced->format().preparation, Contains("\"caf\"") && Contains("\"encoding\":\"utf-8\""));
}

TEST_CASE("CSVs of texts that are not a dataset are refused") {
  CHECK_THAT(Csv("text,label\n").error(), Contains("has no rows"));
  CHECK_THAT(Csv("text,label\na,1\nb,1\n").error(), Contains("has one class, \"1\""));
  CHECK_THAT(Csv("text,label\na,\nb,\n").error(),
             Contains("none of its 2 rows can be used; line 2: has no label"));
  CHECK_THAT(Csv("text,number\na,1\nb,2\n").error(), Contains("has no column of labels"));
  CHECK_THAT(Csv("words,label\na,1\nb,2\n").error({}, "text-csv"), Contains("has no column of texts"));
  CHECK_THAT(Csv("text,label\n\"open,1\n").error(),
             Contains("table.csv:2: cell 1 begins with a quote that is not closed"));
  CHECK_THAT(Csv(kReviews).error({.text = {.vocabulary = 2}}), Contains("a vocabulary of 2 tokens"));
}

TEST_CASE("a CSV with unusual column names is opened if the options give the names") {
  const Csv csv("what was said,mood\nA good film.,1\nA bad film.,0\n");
  CHECK_FALSE(is_text_csv(csv.file));
  SourceOptions options;
  options.columns.text = "what was said";
  options.columns.label = "mood";
  CHECK(csv.open(options)->catalog().items.size() == 2);
}

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
  for (const char* split : {"val", "dev"}) {
    write_file(folder / split / "neg/a.txt", "bad");
    write_file(folder / split / "pos/a.txt", "good");
  }
  CHECK_THAT(error_of([&] { open_source(folder.path()); }), Contains("are both folders of the split valid"));
  write_file(folder / "cups/caf\xE9/a.txt", "black");
  write_file(folder / "cups/caf\u00E9/a.txt", "white");
  CHECK_THAT(error_of([&] { open_source(folder / "cups"); }), Contains("another class folder has the name"));
  fs::remove(folder / "test/neg/a.txt");
  std::vector<std::byte> sample(4);
  const std::size_t training[] = {2, 3};
  source->fit(training);
  CHECK_THAT(error_of([&] { source->read(0, sample); }), Contains("test/neg/a.txt: cannot be read"));
}
