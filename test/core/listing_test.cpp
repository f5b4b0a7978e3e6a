#include "convoke/core/text.hpp"

#include "support/catch.hpp"

using convoke::listing;

TEST_CASE("long lists in messages are cut") {
  CHECK(listing({}).empty());
  CHECK(listing(std::vector<std::string>{"a", "b"}, 2) == "a, b");
  CHECK(listing(std::vector<std::string>{"a", "b", "c"}, 2) == "a, b and 1 more");
  CHECK(listing(std::vector<std::string>(1'000'000, "x")).ends_with("x, x and 999,980 more"));
}
