#include "convoke/vote/diversity.hpp"

#include "convoke/core/random.hpp"
#include "convoke/vote/rule.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::vote;

TEST_CASE("disagreement by hand") {
  Disagreement disagreement(3);
  disagreement.add(std::vector<std::int32_t>{1, 2, 3, 4,    // member 0
                                             1, 2, 3, 5,    // member 1: differs from member 0 on one sample
                                             0, 2, 0, 5});  // member 2: from 0 on three, from 1 on two
  CHECK(disagreement.samples() == 4);
  CHECK(disagreement.between(0, 1) == 0.25);
  CHECK(disagreement.between(2, 0) == 0.75);
  CHECK(disagreement.between(1, 2) == 0.5);
  CHECK(disagreement.between(1, 1) == 0);
  CHECK(disagreement.mean() == 0.5);
  CHECK(disagreement.mean(2) == 0.25);
  CHECK(disagreement.mean(1) == 0);
}

TEST_CASE("members that agree, one member and no samples do not disagree") {
  Disagreement same(4);
  CHECK(same.mean() == 0);
  CHECK(same.between(0, 3) == 0);
  same.add(std::vector<std::int32_t>(4 * 10, 7));
  CHECK(same.mean() == 0);
  Disagreement one(1);
  one.add(std::vector<std::int32_t>{1, 2, 3});
  CHECK(one.samples() == 3);
  CHECK(one.mean() == 0);
}

TEST_CASE("disagreement adds up over parts, for every prefix of members") {
  constexpr std::int64_t kMembers = 6;
  RandomStream random({.seed = 1, .purpose = Purpose::kBench});
  Disagreement whole(kMembers);
  Disagreement sum(kMembers);
  std::vector<std::vector<std::int32_t>> all(kMembers);
  for (const std::size_t samples : {5U, 0U, 33U}) {
    std::vector<std::int32_t> part;
    for (auto& labels : all) {
      for (std::size_t s = 0; s < samples; ++s) {
        part.push_back(static_cast<std::int32_t>(random.below(3)));
        labels.push_back(part.back());
      }
    }
    Disagreement rank(kMembers);
    rank.add(part);
    for (std::size_t i = 0; i < sum.counts().size(); ++i) sum.counts()[i] += rank.counts()[i];
  }
  std::vector<std::int32_t> joined;
  for (const auto& labels : all) joined.insert(joined.end(), labels.begin(), labels.end());
  whole.add(joined);
  for (std::int64_t prefix = 1; prefix <= kMembers; ++prefix) {
    CHECK(sum.mean(prefix) == whole.mean(prefix));
    double slow = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(prefix); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        for (std::size_t s = 0; s < 38; ++s) slow += all[a][s] != all[b][s] ? 1 : 0;
      }
    }
    const double pairs = static_cast<double>(prefix * (prefix - 1)) / 2;
    CHECK(whole.mean(prefix) * pairs * 38 == Catch::Approx(slow));
  }
}

TEST_CASE("a member's label is its most probable class, the lowest among equals") {
  const std::vector<float> probabilities{0.1F, 0.2F, 0.7F, 0.5F, 0.5F, 0.0F,   // member 0, samples 0 and 1
                                         0.3F, 0.4F, 0.3F, 0.0F, 0.5F, 0.5F};  // member 1
  CHECK(member_labels({probabilities, 2, 2, 3}) == std::vector<std::int32_t>{2, 0, 1, 1});
}
