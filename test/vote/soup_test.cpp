#include "convoke/vote/soup.hpp"

#include "convoke/core/error.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::vote;

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double no_trial(std::span<const double>) { throw Error("this soup makes no trials"); }

using Shares = std::vector<double>;

}  // namespace

TEST_CASE("the uniform soup gives each member the same share, without trials") {
  CHECK(find_soup("uniform")(Shares{0.1, 0.9, kUnknown, 0.5}, no_trial) == Shares(4, 0.25));
  CHECK(find_soup("uniform")(Shares{kUnknown}, no_trial) == Shares{1});
}

TEST_CASE("the weighted soup gives shares in proportion to the accuracies") {
  CHECK(find_soup("weighted")(Shares{0.75, 0.25, 0.5, 0.5}, no_trial) == Shares{0.375, 0.125, 0.25, 0.25});
  CHECK(find_soup("weighted")(Shares{0.75, kUnknown, 0.25}, no_trial) == Shares{0.75, 0, 0.25});
  CHECK(find_soup("weighted")(Shares{0, kUnknown}, no_trial) == Shares{0.5, 0.5});
}

TEST_CASE("the greedy soup tries members by descending accuracy, and keeps those that do not lower it") {
  // The mean of members 1 and 2 is better than member 1; member 0 would lower it; member 3 leaves it as it
  // is.
  std::vector<Shares> trials;
  const auto trial = [&](std::span<const double> shares) {
    trials.emplace_back(shares.begin(), shares.end());
    if (shares[0] > 0) return 0.5;
    return shares[2] > 0 ? 0.95 : 0.9;
  };
  const double third = 1.0 / 3;
  CHECK(find_soup("greedy")(Shares{0.7, 0.9, 0.8, kUnknown}, trial) == Shares{0, third, third, third});
  CHECK(trials == std::vector<Shares>{{0, 1, 0, 0},              // the best alone
                                      {0, 0.5, 0.5, 0},          // joins
                                      {third, third, third, 0},  // does not join
                                      {0, third, third, third}});
}

TEST_CASE("the greedy soup of members that do not fit together is the best member, the first among equals") {
  const auto trial = [](std::span<const double> shares) {
    return std::count(shares.begin(), shares.end(), 0.0) == 2 ? 0.9 : 0.1;
  };
  CHECK(find_soup("greedy")(Shares{0.8, 0.9, 0.9}, trial) == Shares{0, 1, 0});
  // A mean whose validation is not finite does not count as better.
  const auto diverging = [](std::span<const double> shares) { return shares[1] == 1 ? 0.2 : kUnknown; };
  CHECK(find_soup("greedy")(Shares{0.8, 0.9, 0.9}, diverging) == Shares{0, 1, 0});
}

TEST_CASE("soups know what they need, and an unknown soup is refused") {
  CHECK(needs_of_soup("uniform") == SoupNeeds::kNothing);
  CHECK(needs_of_soup("weighted") == SoupNeeds::kAccuracies);
  CHECK(needs_of_soup("greedy") == SoupNeeds::kTrials);
  CHECK_THROWS_WITH(find_soup("gredy"), Contains("unknown soup \"gredy\" (did you mean \"greedy\"?)"));
}
