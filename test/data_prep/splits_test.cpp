#include "convoke/data_prep/splits.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::data_prep;

namespace {

/// Returns `counts[c]` items of class c, one class after the other.
Catalog catalog_of(const std::vector<int>& counts) {
  Catalog catalog;
  catalog.classes = static_cast<std::int64_t>(counts.size());
  for (std::size_t c = 0; c < counts.size(); ++c) {
    for (int i = 0; i < counts[c]; ++i)
      catalog.items.push_back({.name = fmt::format("{}/{}", c, i), .label = static_cast<std::int32_t>(c)});
  }
  return catalog;
}

SplitAssignment assign_splits(const Catalog& catalog, const SplitOptions& options) {
  std::vector<std::string> notes;
  return assign_splits(catalog, groups_of(catalog, options.group_by, notes), options);
}

std::map<std::int32_t, int> classes_in(const Catalog& catalog, const SplitAssignment& splits,
                                       std::size_t split) {
  std::map<std::int32_t, int> counts;
  for (const std::size_t item : splits.items(split)) ++counts[catalog.items[item].label];
  return counts;
}

const SplitOptions kThree{.parts = {{"train", 0.8}, {"validation", 0.1}, {"test", 0.1}}};

}  // namespace

TEST_CASE("splits are stratified: every class is cut in the same shares") {
  const Catalog catalog = catalog_of({100, 50, 10});
  const SplitAssignment splits = assign_splits(catalog, kThree);
  CHECK(splits.names == std::vector<std::string>{"train", "validation", "test"});
  CHECK(classes_in(catalog, splits, 0) == std::map<std::int32_t, int>{{0, 80}, {1, 40}, {2, 8}});
  CHECK(classes_in(catalog, splits, 1) == std::map<std::int32_t, int>{{0, 10}, {1, 5}, {2, 1}});
  CHECK(classes_in(catalog, splits, 2) == std::map<std::int32_t, int>{{0, 10}, {1, 5}, {2, 1}});
  CHECK(splits.rule == "train=0.8, validation=0.1, test=0.1, stratified, seed 1");

  CHECK(assign_splits(catalog, kThree).of_item == splits.of_item);
  SplitOptions other = kThree;
  other.seed = 2;
  CHECK(assign_splits(catalog, other).of_item != splits.of_item);
}

TEST_CASE("many classes of a few samples fill every split") {
  Catalog catalog = catalog_of(std::vector<int>(100, 3));  // 0.3 of each class for validation
  const SplitAssignment splits = assign_splits(catalog, kThree);
  CHECK(splits.items(0).size() == 240);
  CHECK(splits.items(1).size() == 30);
  CHECK(splits.items(2).size() == 30);
  // Also if two of them stay together.
  catalog.items[0].group = catalog.items[1].group = "twins";
  const SplitAssignment grouped = assign_splits(catalog, kThree);
  CHECK(std::abs(static_cast<int>(grouped.items(0).size()) - 240) <= 2);
  CHECK(std::abs(static_cast<int>(grouped.items(1).size()) - 30) <= 2);
}

TEST_CASE("without strata only the sizes count") {
  SplitOptions options{.parts = {{"train", 0.5}, {"test", 0.5}}, .stratified = false};
  const Catalog catalog = catalog_of({30, 31});
  const SplitAssignment splits = assign_splits(catalog, options);
  CHECK(std::abs(static_cast<int>(splits.items(0).size()) - 30) <= 1);
  CHECK(splits.rule == "train=0.5, test=0.5, seed 1");
}

TEST_CASE("a group stays in one split, and the classes are still spread") {
  Catalog catalog = catalog_of({300, 100});
  for (std::size_t i = 0; i < catalog.items.size(); ++i)
    catalog.items[i].group = fmt::format("patient {}", i / 2);  // two eyes each
  const SplitAssignment splits = assign_splits(catalog, kThree);
  std::map<std::string, std::set<std::int32_t>> sides;
  for (std::size_t i = 0; i < catalog.items.size(); ++i)
    sides[catalog.items[i].group].insert(splits.of_item[i]);
  for (const auto& [group, its_splits] : sides) CHECK(its_splits.size() == 1);
  for (std::size_t s = 0; s < 3; ++s) {
    const double fraction = kThree.parts[s].fraction;
    auto counts = classes_in(catalog, splits, s);
    CHECK(counts[0] == Approx(300 * fraction).margin(2));
    CHECK(counts[1] == Approx(100 * fraction).margin(2));
  }
  CHECK_THAT(splits.rule, Contains("by 200 groups"));
}

TEST_CASE("each split has groups of every class, if the groups allow it") {
  Catalog catalog = catalog_of({100, 100, 30, 70});
  for (std::size_t i = 0; i < catalog.items.size(); ++i)
    catalog.items[i].group = fmt::format("animal {}", i / 5);  // 20, 20, 6 and 14 animals
  SplitOptions options{.parts = {{"train", 0.7}, {"validation", 0.15}, {"test", 0.15}}};
  for (options.seed = 1; options.seed < 40; ++options.seed) {
    const SplitAssignment splits = assign_splits(catalog, options);
    CAPTURE(options.seed);
    for (std::size_t s = 0; s < 3; ++s) CHECK(classes_in(catalog, splits, s).size() == 4);
    if (options.seed == 1)
      CHECK(classes_in(catalog, splits, 2) == std::map<std::int32_t, int>{{0, 15}, {1, 15}, {2, 5}, {3, 10}});
  }
}

TEST_CASE("every sample is in the test split of one fold") {
  const Catalog catalog = catalog_of({20, 33});
  std::vector<int> tested(catalog.items.size());
  for (std::int64_t fold = 1; fold <= 5; ++fold) {
    const SplitAssignment splits = assign_splits(catalog, {.fold = fold, .folds = 5});
    CHECK(splits.names == std::vector<std::string>{"train", "test"});
    for (const std::size_t item : splits.items(1)) ++tested[item];
    CHECK(classes_in(catalog, splits, 1)[0] == 4);
    // As scikit-learn's StratifiedKFold: five samples of a class are one in each fold, whatever comes before.
    const Catalog few = catalog_of({1, 2, 5});
    CHECK(classes_in(few, assign_splits(few, {.fold = fold, .folds = 5}), 1)[2] == 1);
  }
  CHECK(tested == std::vector<int>(tested.size(), 1));
}

TEST_CASE("the source's own splits are kept, in their usual order") {
  Catalog catalog = catalog_of({4, 4});
  const std::vector<std::string> said{"test",       "extra", "train", "train",
                                      "validation", "train", "test",  "train"};
  for (std::size_t i = 0; i < 8; ++i) catalog.items[i].split = said[i];
  catalog.items[3].fault = "row 4 has no label";
  const SplitAssignment splits = assign_splits(catalog, {});
  CHECK(splits.names == std::vector<std::string>{"train", "validation", "test", "extra"});
  CHECK(splits.of_item == std::vector<std::int32_t>{2, 3, 0, SplitAssignment::kNone, 1, 0, 2, 0});

  catalog.items[5].split.clear();
  CHECK_THAT(error_of([&] { assign_splits(catalog, {}); }),
             Contains("1/1: is in no split, but other samples are"));
  CHECK_NOTHROW(assign_splits(catalog, {.parts = {{"train", 0.5}, {"test", 0.5}}}));
}

TEST_CASE("a source without splits is split four to one") {
  const SplitAssignment splits = assign_splits(catalog_of({50, 50}), {});
  CHECK(splits.items(0).size() == 80);
  CHECK(splits.names[1] == "test");
}

TEST_CASE("invalid splits are refused") {
  CHECK_THAT(error_of([] { assign_splits(catalog_of({1, 1}), kThree); }), Contains("would have no sample"));
  CHECK_THAT(error_of([] { split_parts_from("train=0.8,test=0.3"); }),
             Contains("the fractions sum to 1.1, not 1"));
  CHECK_THAT(error_of([] { split_parts_from("train"); }), Contains("\"train\" is not NAME=FRACTION"));
  CHECK_THAT(error_of([] { split_parts_from("train=0.5,train=0.5"); }), Contains("\"train\" is given twice"));
  CHECK_THAT(error_of([] { split_parts_from("train=2,test=-1"); }), Contains("is not NAME=FRACTION"));
  CHECK_THAT(error_of([] { split_parts_from(""); }), Contains("is not NAME=FRACTION"));
  const auto parts = split_parts_from("training=0.75, valid = 0.25");
  CHECK(parts.at(0).name == "train");
  CHECK(parts.at(1).name == "validation");
}
