#include "convoke/core/lookup.hpp"

#include "support/catch.hpp"

using namespace convoke;

TEST_CASE("values are found by their paths, and missing values show in the result") {
  const Settings settings{{"name", "a run"},
                          {"ranks", 4},
                          {"test", Settings{{"accuracy", 0.5}, {"rules", Value::Array{"majority", 3}}}},
                          {"list", Value::Array{1, 2.5, "x"}},
                          {"members", Value::Array{Settings{{"member", 0}}, 7, Settings{{"member", 2}}}}};
  CHECK(text_at(settings, "name") == "a run");
  CHECK(text_at(settings, "ranks").empty());
  CHECK(number_at(settings, "ranks") == 4);
  CHECK(number_at(settings, "test.accuracy") == 0.5);
  CHECK(count_at(settings, "ranks") == 4);
  CHECK_FALSE(count_at(settings, "test.accuracy"));
  for (const char* absent : {"none", "test.none", "name.none", "test.accuracy.none", "test", "name", ""}) {
    CAPTURE(absent);
    CHECK(std::isnan(number_at(settings, absent)));
  }
  CHECK(table_at(settings, "test").entries().size() == 2);
  CHECK(table_at(settings, "name").empty());
  CHECK(list_at(settings, "list").size() == 3);
  CHECK(list_at(settings, "test").empty());
  const std::vector<double> numbers = numbers_at(settings, "list");
  REQUIRE(numbers.size() == 3);
  CHECK(numbers[1] == 2.5);
  CHECK(std::isnan(numbers[2]));
  CHECK(texts_at(settings, "test.rules") == std::vector<std::string>{"majority", ""});
  REQUIRE(tables_at(settings, "members").size() == 2);
  CHECK(number_at(tables_at(settings, "members")[1], "member") == 2);
}

TEST_CASE("differences name each value that changed, came or went, and ignore the order") {
  CHECK(differences({{"a", "1"}, {"b", "2"}}, {{"b", "2"}, {"a", "1"}}, "then").empty());
  CHECK(differences({{"a", "1"}, {"b", "2"}, {"c", "3"}}, {{"c", "4"}, {"d", "5"}, {"a", "1"}},
                    "in the file") == std::vector<std::string>{"c: 3 in the file, 4 now",
                                                               "d: absent in the file, 5 now",
                                                               "b: 2 in the file, absent now"});
}
