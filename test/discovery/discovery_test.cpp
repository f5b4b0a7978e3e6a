#include "support/catch.hpp"

namespace {

std::string last_of_the_environment() {
  const char* value = std::getenv("CONVOKE_LAST_OF_THE_LIST");
  return value == nullptr ? "" : value;
}

}  // namespace

TEST_CASE("a name with a semicolon; and another; in the middle") {
  CHECK(last_of_the_environment() == "arrived");
}

TEST_CASE("a name that ends in a semicolon;") { CHECK(last_of_the_environment() == "arrived"); }

TEST_CASE("a name with [a bracket], one that [ stays open; and one that ] was never") {
  CHECK(last_of_the_environment() == "arrived");
}

TEST_CASE("a name with \"quotes\", a back\\slash, ${a_variable}, $<genex> and (parentheses)") {
  CHECK(last_of_the_environment() == "arrived");
}
