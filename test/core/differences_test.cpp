#include "convoke/core/lookup.hpp"

#include "support/catch.hpp"

using namespace convoke;

TEST_CASE("differences name each value that changed, came or went, and ignore the order") {
  CHECK(differences({{"a", "1"}, {"b", "2"}}, {{"b", "2"}, {"a", "1"}}, "then").empty());
  CHECK(differences({{"a", "1"}, {"b", "2"}, {"c", "3"}}, {{"c", "4"}, {"d", "5"}, {"a", "1"}},
                    "in the file") == std::vector<std::string>{"c: 3 in the file, 4 now",
                                                               "d: absent in the file, 5 now",
                                                               "b: 2 in the file, absent now"});
}
