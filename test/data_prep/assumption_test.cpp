#include "convoke/data_prep/assumption.hpp"

#include <fmt/format.h>

#include "convoke/data_prep/preparation.hpp"
#include "convoke/data_prep/prepare.hpp"
#include "idx_files.hpp"
#include "sources/csv_file.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::data_prep;

TEST_CASE("assumptions are the same after JSON") {
  const std::vector<Assumption> two{{"labels", "column \"a\"", "the last column", "--label-column"},
                                    {.what = "header", .taken = "line 1", .doubtful = true}};
  const std::vector<Assumption> read = assumptions_from(to_json(two), "x.h5");
  REQUIRE(read.size() == 2);
  CHECK(to_text(read) == to_text(two));
  CHECK(to_text(read) ==
        "  labels  column \"a\": the last column (--label-column)\n"
        "  header  warning: line 1\n");
  CHECK(to_json(std::span<const Assumption>()).empty());
  CHECK(assumptions_from("", "x.h5").empty());
  for (const char* damaged : {"[", "[3]", R"([{"what":1}])"})
    CHECK_THAT(error_of([&] { assumptions_from(damaged, "x.h5"); }), Contains("x.h5: its assumptions are"));
}

TEST_CASE("text of a file is harmless when it is shown as an assumption") {
  const std::vector<Assumption> one{{.what = "labels", .taken = "column \"a\x1b[2J\n\""}};
  CHECK(to_text(one).find('\x1b') == std::string::npos);
  CHECK(to_text(one).find('\n') == to_text(one).size() - 1);
}

TEST_CASE("what a source was taken for is announced before samples are decoded, and stored") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  std::string announced;
  bool decoded = false;
  PrepareOptions options{folder.path(), folder / "small.h5"};
  options.announce = [&](std::span<const Assumption> assumptions) {
    CHECK_FALSE(decoded);
    announced = to_text(assumptions);
  };
  options.progress = [&](std::int64_t, std::int64_t) { decoded = true; };

  options.dry_run = true;
  const PrepareReport rehearsal = prepare(options);
  CHECK_THAT(announced, Contains("kind     idx"));
  CHECK_FALSE(decoded);
  CHECK_FALSE(std::filesystem::exists(folder / "small.h5"));
  CHECK_FALSE(std::filesystem::exists(folder / "small.h5.work"));
  REQUIRE(rehearsal.splits.size() == 2);
  CHECK(rehearsal.splits[0].samples == 30);

  options.dry_run = false;
  prepare(options);
  const auto dataset = convoke::data::Dataset::open(folder / "small.h5", {"test"});
  CHECK(to_text(assumptions_from(dataset.info().assumptions, "small.h5")) == announced);
  CHECK_THAT(dataset.info().preparation, !Contains("assumptions"));
}

TEST_CASE("a column that has no splits is announced, unless an option draws the splits") {
  std::string rows = "text,label,split\n";
  for (int i = 0; i < 30; ++i)
    rows += fmt::format("word{},{},{}\n", i, i % 2, i % 3 == 0 ? "holdout" : "train");
  const Csv csv(rows);
  PrepareOptions options{csv.file, csv.folder / "x.h5"};
  std::string announced;
  options.announce = [&](std::span<const Assumption> assumptions) { announced = to_text(assumptions); };
  options.dry_run = true;
  prepare(options);
  CHECK_THAT(announced,
             Contains("warning: column \"split\" has none: \"holdout\" is no usual name of a split"));
  options.splits = {.fold = 1, .folds = 3};
  prepare(options);
  CHECK_THAT(announced, Contains("labels") && !Contains("column \"split\""));
}

TEST_CASE("what a source was taken for is announced also if it cannot be fitted") {
  std::string names = "name,age,label\n";
  for (int i = 0; i < 30; ++i) names += "n" + std::to_string(i) + ",3," + std::to_string(i % 2) + "\n";
  const Csv csv(names);
  PrepareOptions options{csv.file, csv.folder / "x.h5"};
  std::string announced;
  options.announce = [&](std::span<const Assumption> assumptions) { announced = to_text(assumptions); };
  CHECK_THAT(error_of([&] { prepare(options); }), Contains("column \"name\""));
  CHECK_THAT(announced, Contains("table"));
  CHECK(announced.find("--header") == announced.rfind("--header"));  // once
}

TEST_CASE("a preparation has a kind") {
  CHECK(preparation_kind(R"({"kind":"text","length":3})", "x.h5") == "text");
  CHECK(preparation_kind(R"({"splits":"the source's own"})", "x.h5").empty());
  CHECK(preparation_kind("", "x.h5").empty());
  for (const char* broken : {"{", "[]", "3"}) {
    CHECK(error_of([&] { preparation_kind(broken, "x.h5"); }) == "x.h5: is damaged: it is not a JSON object");
  }
}

TEST_CASE("a preparation has the axes of arrays") {
  CHECK(axes_in(preparation_of_axes("NWH"), "x.h5") == "NWH");
  CHECK(axes_in("", "x.h5").empty());
  CHECK(axes_in(R"({"splits":"a","axes":3})", "x.h5").empty());
}

TEST_CASE("preparations are equal if they make the same samples") {
  const std::string one = R"({"kind":"text","length":3,"splits":"a","shuffled":true,"left_out":1})";
  CHECK(prepare_alike(one, R"({"kind":"text","length":3,"splits":"b","shuffled":false,"left_out":0})"));
  CHECK(prepare_alike(one, R"({"kind":"text","length":3})"));
  CHECK(prepare_alike(one, R"({"kind":"text","length":3,"axes":"NWH"})"));
  CHECK(prepare_alike("", R"({"axes":"NWH"})"));
  CHECK_FALSE(prepare_alike(one, R"({"kind":"text","length":4})"));
}
