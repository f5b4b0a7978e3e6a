#include "convoke/core/table.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;

namespace {
struct Entry {
  std::string_view name;
  int value;
};
constexpr std::array kTable{Entry{"sgd", 1}, Entry{"adam", 2}, Entry{"rmsprop", 3}};
}  // namespace

TEST_CASE("a table finds its entries") {
  CHECK(find_in(kTable, "adam", "optimizer").value == 2);
  CHECK(names_in(kTable) == std::vector<std::string>{"sgd", "adam", "rmsprop"});
}

TEST_CASE("an unknown name is refused with the nearest known name and a list of all") {
  const auto message = [](std::string_view name, std::string_view where) {
    return refusal_of([&] { find_in(kTable, name, "optimizer", where); });
  };
  CHECK(message("adamm", "recipe.toml:14") ==
        "recipe.toml:14: unknown optimizer \"adamm\" (did you mean \"adam\"?) | known: adam, rmsprop, sgd");
  CHECK(message("lion", "") == "unknown optimizer \"lion\" | known: adam, rmsprop, sgd");
}
