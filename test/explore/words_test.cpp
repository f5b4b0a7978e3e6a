#include "convoke/explore/words.hpp"

#include "support/catch.hpp"

using namespace convoke::explore;

// z = delta / sqrt(var), computed by NumPy with the formula in words.cpp for the counts {8, 2, 1} and {1, 2,
// 9}.
TEST_CASE("words that distinguish a class equal those of Monroe, Colaresi and Quinn") {
  TokenCounts counts(3);
  const auto add = [&](std::int32_t token, int times, std::int32_t label) {
    counts.add(std::vector<std::int32_t>(static_cast<std::size_t>(times), token), label);
  };
  add(0, 50, 0);  // padding
  add(1, 8, 0);
  add(2, 2, 0);
  add(3, 1, 0);
  add(1, 1, 1);
  add(2, 2, 1);
  add(3, 9, 1);
  CHECK(counts.of(0).at(1) == 8);
  CHECK(counts.of_all().at(3) == 10);
  CHECK(counts.of(2).empty());

  const auto first = telling_words(counts, 0, 5);
  REQUIRE(first.size() == 2);
  CHECK(first[0].token == 1);
  CHECK(first[0].count == 8);
  CHECK_THAT(first[0].score, WithinAbs(2.29919535, 1e-7));
  CHECK(first[1].token == 2);
  CHECK_THAT(first[1].score, WithinAbs(0.06077995, 1e-7));
  const auto second = telling_words(counts, 1, 1);
  REQUIRE(second.size() == 1);
  CHECK(second[0].token == 3);
  CHECK_THAT(second[0].score, WithinAbs(2.40044059, 1e-7));
  CHECK(telling_words(counts, 2, 5).empty());

  const auto frequent = frequent_words(counts, 2);
  REQUIRE(frequent.size() == 2);
  CHECK(frequent[0].token == 3);
  CHECK_THAT(frequent[0].score, WithinAbs(10.0 / 23, 1e-12));
}

TEST_CASE("a single word, and no word, have no score and no division by 0") {
  TokenCounts counts(2);
  CHECK(telling_words(counts, 0, 5).empty());
  CHECK(frequent_words(counts, 5).empty());
  counts.add(std::vector<std::int32_t>{4, 4, 0}, 0);
  CHECK(telling_words(counts, 0, 5).empty());
  CHECK(frequent_words(counts, 5).size() == 1);
  counts.add(std::vector<std::int32_t>{INT32_MAX}, 1);
  CHECK(frequent_words(counts, 5)[1].token == INT32_MAX);
}
