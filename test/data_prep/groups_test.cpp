// Drawn splits keep samples together that are equal, look the same or have one group.
#include "convoke/data_prep/groups.hpp"

#include <random>

#include "convoke/data_prep/prepare.hpp"
#include "convoke/pictures/encode.hpp"
#include "idx_files.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "thread_team.hpp"

using namespace convoke::data_prep;
namespace data = convoke::data;

namespace {

/// Counts by hand in which splits each sample is: the bytes of a sample, and the names of its splits.
std::map<std::string, std::multiset<std::string>> places(const fs::path& file,
                                                         const std::vector<std::string>& splits) {
  std::map<std::string, std::multiset<std::string>> found;
  const auto dataset = data::Dataset::open(file, splits);
  const auto count = static_cast<std::size_t>(dataset.info().sample_shape.elements());
  const std::size_t bytes = count * data::size_of(dataset.info().sample_type);
  for (const std::string& split : splits) {
    const auto all = data::bytes_of(dataset.split(split).samples);
    for (std::size_t at = 0; at < all.size(); at += bytes)
      found[std::string(reinterpret_cast<const char*>(all.data()) + at, bytes)].insert(split);
  }
  return found;
}

bool is_parted(const std::multiset<std::string>& splits) { return *splits.begin() != *splits.rbegin(); }

std::size_t parted(const fs::path& file, const std::vector<std::string>& splits) {
  const auto found = places(file, splits);
  return static_cast<std::size_t>(
      std::count_if(found.begin(), found.end(), [](const auto& sample) { return is_parted(sample.second); }));
}

/// A gray picture of 40 x 40 pixels as a PNG: smooth noise from `seed`, brighter by `more`.
std::string noise_png(unsigned seed, unsigned more) {
  std::vector<std::uint8_t> pixels;
  for (unsigned y = 40; y-- > 0;) {
    for (unsigned x = 0; x < 40; ++x) {
      const unsigned cell = (x / 2 * 31 + y / 2 * 17 + seed * 101) * 2654435761U;
      pixels.insert(pixels.end(), 3, static_cast<std::uint8_t>(40 + cell / 65536 % 160 + more));
    }
  }
  const std::vector<std::uint8_t> png = convoke::pictures::encode_png(pixels, {40, 40});
  return {png.begin(), png.end()};
}

Catalog named(const std::vector<std::string>& names) {
  Catalog catalog;
  for (const std::string& name : names) catalog.items.push_back({.name = name});
  return catalog;
}

}  // namespace

TEST_CASE("a pattern groups samples by the part of their names in parentheses") {
  const Catalog catalog = named({"a/p1-left.png", "b/p2.png", "a/p1-right.png", "other.png", "b/p2b.png"});
  std::vector<std::string> notes;
  for (const char* pattern : {"(p[0-9]+)", "p[0-9]", "/(p.)"}) {
    notes.clear();
    const Groups groups = groups_of(catalog, pattern, notes);
    std::vector<std::size_t> first;
    for (std::size_t i = 0; i < 5; ++i) first.push_back(groups.first_of(i));
    CHECK(first == std::vector<std::size_t>{0, 1, 0, 3, 1});
    REQUIRE(notes.size() == 1);
    CHECK_THAT(notes[0], Contains("1 sample without a match, each a group of its own"));
  }
  Catalog rows = named({"line 2", "line 3", "line 4"});
  CHECK_THAT(error_of([&] { groups_of(rows, "(.*)", notes); }),
             Contains("no two samples have the same group; the first is searched in \"line 2\""));
  CHECK_THAT(hint_of([&] { groups_of(rows, "(.*)", notes); }), Contains("--group COLUMN"));
  rows.items[0].group = "anna 2019";
  rows.items[2].group = "anna 2020";
  const Groups groups = groups_of(rows, "^(\\w+)", notes);
  CHECK(groups.first_of(2) == 0);
  CHECK(groups.first_of(1) == 1);
  CHECK_THAT(error_of([&] { groups_of(rows, "(", notes); }),
             Contains("--group-by (: is not a regular expression"));
  CHECK_THAT(error_of([&] { groups_of(rows, "(x)", notes); }), Contains("no two samples"));
}

TEST_CASE("equal samples stay in one part of a drawn split, for any number of processes") {
  const TemporaryFolder folder;
  // 90 images of 4 x 5 pixels: 30 different ones, three times each.
  std::vector<std::uint8_t> images;
  for (int times = 0; times < 3; ++times) {
    const std::vector<std::uint8_t> thirty = small_images(30);
    images.insert(images.end(), thirty.begin(), thirty.end());
  }
  write_small_mnist(folder.path(), false);
  write_file(folder / "train-images-idx3-ubyte", idx_bytes(0x803, {90, 4, 5}, images));
  write_file(folder / "train-labels-idx1-ubyte", small_label_file(90));
  PrepareOptions options{folder.path(), folder / "one.h5"};
  options.splits.parts = {{"train", 0.5}, {"validation", 0.2}, {"test", 0.3}};
  const PrepareReport report = prepare(options);
  CHECK(report.duplicates == 60);
  CHECK(report.leaks == 0);
  CHECK_THAT(report.split_rule, Contains("by 37 groups"));
  CHECK_THAT(report.info.preparation, Contains("by 37 groups"));
  const std::vector<std::string> splits{"train", "validation", "test"};
  CHECK(places(options.output, splits).size() == 37);
  CHECK(parted(options.output, splits) == 0);
  for (std::size_t s = 0; s < 3; ++s)
    CHECK(static_cast<double>(report.splits[s].samples) ==
          Approx(97 * options.splits.parts[s].fraction).margin(3));

  PrepareOptions by_three = options;
  by_three.output = folder / "three.h5";
  as_team(3, [&](const Team& member) { prepare(by_three, member); });
  CHECK(bytes_of(folder / "one.h5") == bytes_of(folder / "three.h5"));

  // As before: without groups, some samples would be in several splits.
  options.allow_duplicates = true;
  options.overwrite = true;
  CHECK(prepare(options).leaks > 0);
  CHECK(parted(options.output, splits) > 0);
}

// True if two samples of the split have one group exactly if `together` says so, by all pairs.
template <class Together>
bool groups_are(const fs::path& file, const std::string& split, const Together& together) {
  const std::vector<std::int32_t> groups = data::stored_groups(file, split);
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if ((groups[a] == groups[b]) != together(a, b)) return false;
    }
  }
  return !groups.empty();
}

TEST_CASE("a dataset stores which samples are equal, also in splits of the source's own") {
  const TemporaryFolder folder;
  std::vector<std::uint8_t> images = small_images(30);
  images.insert(images.end(), images.begin(), images.begin() + 12 * 20);  // 12 of 4 x 5 pixels, again
  write_small_mnist(folder.path(), false);
  write_file(folder / "train-images-idx3-ubyte", idx_bytes(0x803, {42, 4, 5}, images));
  write_file(folder / "train-labels-idx1-ubyte", small_label_file(42));
  PrepareOptions options{folder.path(), folder / "small.h5"};
  options.overwrite = true;
  options.order = GENERATE(Order::kSource, Order::kShuffled);
  options.shards = GENERATE(0, 3);
  if (GENERATE(false, true)) options.splits.parts = {{"train", 0.7}, {"test", 0.3}};
  prepare(options);
  const auto dataset = data::Dataset::open(options.output, {"train"});
  const auto samples = dataset.split("train").values<std::uint8_t>();
  CHECK(groups_are(options.output, "train", [&](std::size_t a, std::size_t b) {
    return std::ranges::equal(samples.subspan(20 * a, 20), samples.subspan(20 * b, 20));
  }));
  if (options.splits.parts.empty()) CHECK(data::stored_groups(options.output, "test").empty());
  options.allow_duplicates = true;  // then they need not stay together
  prepare(options);
  CHECK(data::stored_groups(options.output, "train").empty());
}

TEST_CASE("a dataset stores the groups that the user names, joined by equal samples") {
  const TemporaryFolder folder;
  std::string csv = "person,height,width,label\n";
  for (int i = 0; i < 60; ++i) csv += fmt::format("p{},{},{},{}\n", i % 17, i, i + 1, i % 2);
  csv += "p3,4,5,0\np99,4,5,0\n";  // equal to row 4, of p4: the persons 3, 4 and 99 stay together
  write_file(folder / "people.csv", csv);
  PrepareOptions options{folder / "people.csv", folder / "people.h5"};
  options.samples.columns.group = "person";
  options.samples.columns.features = {"height", "width"};
  options.splits.parts = {{"train", 1.0}};
  options.order = Order::kSource;
  prepare(options);
  const auto person = [](std::size_t row) {
    const std::size_t p = row == 60 ? 3 : row == 61 ? 99 : row % 17;
    return p == 4 || p == 99 ? 3 : p;
  };
  CHECK(groups_are(options.output, "train",
                   [&](std::size_t a, std::size_t b) { return person(a) == person(b); }));
}

TEST_CASE("every sample is tested in one fold, and its copies with it") {
  const TemporaryFolder folder;
  std::string csv = "text,label\n";
  for (int i = 0; i < 60; ++i) csv += fmt::format("word{} and word{},{}\n", i % 20, i % 20 * 7, i % 2);
  write_file(folder / "texts.csv", csv);
  std::map<std::string, std::size_t> tested;
  for (std::int64_t fold = 1; fold <= 4; ++fold) {
    PrepareOptions options{folder / "texts.csv", folder / "fold.h5"};
    options.overwrite = true;
    options.splits.fold = fold;
    options.splits.folds = 4;
    const PrepareReport report = prepare(options);
    CHECK(report.leaks == 0);
    CHECK(parted(options.output, {"train", "test"}) == 0);
    CHECK(report.splits[1].samples == Approx(15).margin(3));
    tested["samples"] += static_cast<std::size_t>(report.splits[1].samples);
  }
  CHECK(tested["samples"] == 60);
}

TEST_CASE("every text is tested in one fold, also if words that a fold lacks make it equal to others") {
  const TemporaryFolder folder;
  std::mt19937 random(1);
  std::string csv = "text,label\n";
  for (int i = 0; i < 90; ++i) {
    const auto word = random() % 720;
    const std::string text = fmt::format("a{} b{},{}\n", word % 12, word / 12, i);
    csv += text + text;
  }
  write_file(folder / "texts.csv", csv);
  std::set<std::int32_t> tested;  // labels tell the texts
  for (std::int64_t fold = 1; fold <= 3; ++fold) {
    PrepareOptions options{folder / "texts.csv", folder / fmt::format("{}.h5", fold)};
    options.samples.text.vocabulary = 50;
    options.splits = {.fold = fold, .folds = 3, .stratified = false};
    prepare(options);
    const auto dataset = data::Dataset::open(options.output, {"test"});
    const auto labels = dataset.split("test").labels;
    tested.insert(labels.begin(), labels.end());
  }
  CHECK(tested.size() == 90);
}

TEST_CASE("texts that only become equal with the words of the training split stay together, too") {
  const TemporaryFolder folder;
  std::string csv = "text,label\n";
  for (int i = 0; i < 200; ++i)
    csv += fmt::format("film{} http{} great,{}\n", i % 50, i, i % 2);  // a link each
  write_file(folder / "tweets.csv", csv);
  PrepareOptions options{folder / "tweets.csv", folder / "tweets.h5"};
  options.samples.text.vocabulary = 40;
  options.splits.parts = {{"train", 0.7}, {"test", 0.3}};
  const PrepareReport report = prepare(options);
  CHECK(report.duplicates > 100);
  CHECK(report.leaks == 0);
  CHECK(parted(options.output, {"train", "test"}) == 0);
  options.allow_duplicates = options.overwrite = true;
  CHECK(prepare(options).leaks > 0);
}

TEST_CASE("pictures that look the same stay in one part of a drawn split") {
  const TemporaryFolder folder;
  for (unsigned i = 0; i < 30; ++i) {
    const fs::path of_class = folder / "set" / (i % 2 == 0 ? "even" : "odd");
    write_file(of_class / fmt::format("{}.png", i), noise_png(i / 3, i % 3));
  }
  PrepareOptions options{folder / "set", folder / "set.h5"};
  options.splits.parts = {{"train", 0.6}, {"test", 0.4}};
  const PrepareReport report = prepare(options);
  CHECK(report.near_duplicates >= 20);
  CHECK(report.near_duplicate_leaks == 0);
  CHECK_THAT(report.split_rule, Contains("by 10 groups"));
  CHECK(report.splits[0].samples == 18);
}

TEST_CASE("groups that leave a split without samples are an error that says why") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  std::vector<std::uint8_t> same(37 * 20, 9);
  write_file(folder / "train-images-idx3-ubyte",
             idx_bytes(0x803, {30, 4, 5}, {same.begin(), same.begin() + 600}));
  write_file(folder / "t10k-images-idx3-ubyte",
             idx_bytes(0x803, {7, 4, 5}, {same.begin(), same.begin() + 140}));
  PrepareOptions options{folder.path(), folder / "x.h5"};
  options.splits.parts = {{"train", 0.5}, {"test", 0.5}};
  CHECK_THAT(error_of([&] { prepare(options); }), Contains("split \"test\" would have no sample"));
  CHECK_THAT(hint_of([&] { prepare(options); }),
             Contains("samples that are equal or look the same stay together"));
}

TEST_CASE("a source's own splits may not part a group that the user names") {
  const TemporaryFolder folder;
  write_file(
      folder / "t.csv",
      "split,who,x,label\ntrain,anna,1,0\ntrain,bert,2,1\ntrain,anna,3,1\ntest,anna,4,0\ntest,carl,5,1\n");
  PrepareOptions options{folder / "t.csv", folder / "t.h5"};
  options.samples.columns.group = "who";
  CHECK_THAT(error_of([&] { prepare(options); }),
             Contains("its splits part a group: line 2 is in \"train\", and line 5 in \"test\""));
  options.splits.parts = {{"train", 0.5}, {"test", 0.5}};
  CHECK_THAT(prepare(options).split_rule, Contains("by 3 groups"));
}
