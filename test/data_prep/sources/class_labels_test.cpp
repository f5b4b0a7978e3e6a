#include "sources/labels.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::data_prep;
using Labels = std::vector<std::int32_t>;
using Names = std::vector<std::string>;

namespace {

ClassLabels labels(const Names& cells, const Names& names = {}) {
  return class_labels(cells, names, "x.csv");
}

}  // namespace

TEST_CASE("names become classes in the order of the alphabet") {
  const ClassLabels found = labels({"pos", " neg ", "", "pos"});
  CHECK(found.labels == Labels{1, 0, -1, 1});
  CHECK(found.class_names == Names{"neg", "pos"});
  CHECK(found.classes == 2);
}

TEST_CASE("numbers become classes in their order; 0, 1, ... need no names") {
  CHECK(labels({"1", "0", "2"}).labels == Labels{1, 0, 2});
  CHECK(labels({"1", "0", "2"}).class_names.empty());
  CHECK(labels({"10", "9", "-1"}).labels == Labels{2, 1, 0});
  CHECK(labels({"10", "9", "-1"}).class_names == Names{"-1", "9", "10"});
  CHECK(labels({"1.0", "0.3333333", "0.0"}).class_names == Names{"0.0", "0.3333333", "1.0"});
}

TEST_CASE("given names decide the order, by name or by number") {
  CHECK(labels({"dog", "cat"}, {"emu", "dog", "cat"}).labels == Labels{1, 2});
  CHECK(labels({"dog", "cat"}, {"emu", "dog", "cat"}).classes == 3);
  CHECK(labels({"2", "0"}, {"emu", "dog", "cat"}).labels == Labels{2, 0});
  CHECK(labels({"2", "1"}, {"2", "1"}).labels == Labels{0, 1});  // names that are numbers
  CHECK(labels({"0", "1"}, {"1", "0"}).labels == Labels{1, 0});
  CHECK(labels({"YES", "No"}, {"yes", "no"}).labels == Labels{0, 1});
  CHECK(error_of([] {
          labels({"horze", "cat"}, {"emu", "horse", "cat"});
        }) == "x.csv: \"horze\" is not one of the 3 class names (did you mean \"horse\"?)");
  CHECK_THAT(error_of([] { labels({"3", "0"}, {"emu", "dog", "cat"}); }), Contains("is not one of the 3"));
}

TEST_CASE("labels that cannot be classes are refused") {
  CHECK_THAT(error_of([] { labels({"a", "a"}); }), Contains("has one class, \"a\""));
  CHECK_THAT(error_of([] { labels({"", ""}); }), Contains("has no labels"));
  const std::string composed = "caf\u00e9", accented = "cafe\u0301";
  for (const Names& names : {Names{}, Names{composed, "tea"}}) {
    CHECK(error_of([&] {
            labels({composed, "tea", accented}, names);
          }) == "x.csv: the labels \"cafe<U+0301>\" and \"caf<U+00E9>\" look alike");
  }
  CHECK_THAT(hint_of([&] {
               labels({accented, "tea"}, {composed, "tea"});
             }),
             Contains("unicodedata.normalize"));
  Names many;
  for (int i = 0; i < 40; ++i) many.push_back(std::to_string(i * 0.37));
  CHECK_THAT(error_of([&] { labels(many); }), Contains("has 40 different labels in 40 rows"));
  CHECK_THAT(hint_of([&] { labels(many); }), Contains("for regression use another program"));
  many.insert(many.end(), many.begin(), many.end());
  CHECK(labels(many).classes == 40);
}
