#include "convoke/vote/diversity.hpp"

#include "convoke/core/random.hpp"
#include "convoke/vote/rule.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::vote;

TEST_CASE("disagreement by hand") {
  Diversity diversity(3);
  diversity.add(std::vector<std::int32_t>{1, 2, 3, 4,   // member 0
                                          1, 2, 3, 5,   // member 1: differs from member 0 on one sample
                                          0, 2, 0, 5},  // member 2: from 0 on three, from 1 on two
                std::vector<std::int32_t>{1, 2, 3, 4});
  CHECK(diversity.samples() == 4);
  CHECK(diversity.disagreement(0, 1) == 0.25);
  CHECK(diversity.disagreement(2, 0) == 0.75);
  CHECK(diversity.disagreement(1, 2) == 0.5);
  CHECK(diversity.disagreement(1, 1) == 0);
  CHECK(diversity.disagreement() == 0.5);
}

TEST_CASE("the Q statistic by hand") {
  //             both right on 3, both wrong on 2, only a right on 1, only b right on 2
  const std::vector<std::int32_t> truth{0, 0, 0, 1, 1, 2, 3, 3};
  Diversity diversity(2);
  diversity.add(std::vector<std::int32_t>{0, 0, 0, 2, 3, 2, 0, 1,   // a; wrong on samples 3, 4, 6, 7
                                          0, 0, 0, 3, 3, 0, 3, 3},  // b; wrong on samples 3, 4, 5
                truth);
  CHECK(diversity.q_statistic(0, 1) == Approx((3 * 2 - 1 * 2) / (3.0 * 2 + 1 * 2)));
  CHECK(diversity.q_statistic(1, 0) == diversity.q_statistic(0, 1));
  CHECK(diversity.q_statistic() == diversity.q_statistic(0, 1));
  CHECK(diversity.q_statistic(0, 0) == 1);
  // Both err on sample 3 with different labels, so they disagree there, although both are wrong.
  CHECK(diversity.disagreement(0, 1) == 0.5);
}

TEST_CASE("the Q statistic of members that err together, apart and never") {
  Diversity diversity(4);
  diversity.add(std::vector<std::int32_t>{0, 0, 1, 1,   // a
                                          0, 0, 1, 1,   // b errs where a does
                                          1, 1, 0, 0,   // c errs where a does not
                                          0, 0, 0, 0},  // d is always right
                std::vector<std::int32_t>{0, 0, 0, 0});
  CHECK(diversity.q_statistic(0, 1) == 1);
  CHECK(diversity.q_statistic(0, 2) == -1);
  CHECK(std::isnan(diversity.q_statistic(0, 3)));
  CHECK(diversity.q_statistic() == Approx((1.0 - 1 - 1) / 3));  // without the pairs of d
  CHECK(std::isnan(Diversity(1).q_statistic()));
}

TEST_CASE("members that agree, one member and no samples do not disagree") {
  Diversity same(4);
  CHECK(same.disagreement() == 0);
  CHECK(same.disagreement(0, 3) == 0);
  same.add(std::vector<std::int32_t>(4 * 10, 7), std::vector<std::int32_t>(10, 1));
  CHECK(same.disagreement() == 0);
  Diversity one(1);
  one.add(std::vector<std::int32_t>{1, 2, 3}, std::vector<std::int32_t>{1, 2, 2});
  CHECK(one.samples() == 3);
  CHECK(one.disagreement() == 0);
}

TEST_CASE("diversity adds up over parts") {
  constexpr std::int64_t kMembers = 6;
  RandomStream random({.seed = 1, .purpose = Purpose::kBench});
  Diversity sum(kMembers);
  std::vector<std::vector<std::int32_t>> all(kMembers);
  std::vector<std::int32_t> truth;
  for (const std::size_t samples : {5U, 0U, 33U}) {
    std::vector<std::int32_t> part;
    for (auto& labels : all) {
      for (std::size_t s = 0; s < samples; ++s) {
        part.push_back(static_cast<std::int32_t>(random.below(3)));
        labels.push_back(part.back());
      }
    }
    std::vector<std::int32_t> of_part;
    for (std::size_t s = 0; s < samples; ++s) of_part.push_back(static_cast<std::int32_t>(random.below(3)));
    truth.insert(truth.end(), of_part.begin(), of_part.end());
    Diversity rank(kMembers);
    rank.add(part, of_part);
    for (std::size_t i = 0; i < sum.counts().size(); ++i) sum.counts()[i] += rank.counts()[i];
  }
  double differ = 0, qs = 0;
  for (std::size_t a = 0; a < kMembers; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double n[2][2] = {};
      for (std::size_t s = 0; s < 38; ++s) {
        differ += all[a][s] != all[b][s] ? 1 : 0;
        ++n[all[a][s] == truth[s] ? 1 : 0][all[b][s] == truth[s] ? 1 : 0];
      }
      const double alike = n[1][1] * n[0][0], unlike = n[0][1] * n[1][0];
      qs += (alike - unlike) / (alike + unlike);
    }
  }
  constexpr double kPairs = kMembers * (kMembers - 1) / 2;
  CHECK(sum.disagreement() == Approx(differ / kPairs / 38));
  CHECK(sum.q_statistic() == Approx(qs / kPairs));
}

TEST_CASE("a member's label is its most probable class, the lowest among equals") {
  const std::vector<float> probabilities{0.1F, 0.2F, 0.7F, 0.5F, 0.5F, 0.0F,   // member 0, samples 0 and 1
                                         0.3F, 0.4F, 0.3F, 0.0F, 0.5F, 0.5F};  // member 1
  CHECK(labels_in(probabilities, 3) == std::vector<std::int32_t>{2, 0, 1, 1});
}
