#include "report/chart/distinct_names.hpp"

#include "convoke/core/text.hpp"
#include "support/catch.hpp"

using namespace convoke;

TEST_CASE("long names keep beginning and end, and remain distinct") {
  const auto called = [](const std::vector<std::string>& names, std::size_t characters) {
    std::vector<std::string> all;
    const auto known = report::distinct_names(names, characters);
    for (const std::string& name : names) all.push_back(known.at(name));
    return all;
  };
  using Names = std::vector<std::string>;
  CHECK(called({"sync", "ensemble, 1/2"}, 20) == Names{"sync", "ensemble, 1/2"});
  CHECK(called({"mnist-ensemble, optimizer.name=adam, 4 ranks"}, 20) == Names{"mnist-ense…, 4 ranks"});
  CHECK(called({"鳥鳥鳥鳥鳥鳥鳥鳥鳥鳥"}, 8) == Names{"鳥鳥鳥鳥…鳥鳥鳥"});
  // A cut in the middle would make both "abcdefgh…stuvwxy".
  CHECK(called({"abcdefgh-1-jklmnopqrstuvwxy", "abcdefgh-2-jklmnopqrstuvwxy"}, 16) ==
        Names{"abcdefgh-1…uvwxy", "abcdefgh-2…uvwxy"});
}

TEST_CASE("names that differ only in the hidden part are numbered") {
  const std::string around(40, 'a');
  std::vector<std::string> names;
  for (int n = 0; n < 12; ++n) names.push_back(around + std::to_string(n) + around);
  std::set<std::string> seen;
  for (const auto& [name, called] : report::distinct_names(names, 20)) {
    CHECK(character_count(called) <= 20);
    seen.insert(called);
  }
  CHECK(seen.size() == names.size());
}
