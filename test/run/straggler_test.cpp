#include "convoke/run/straggler.hpp"

#include "support/catch.hpp"

using namespace convoke::run;

namespace {

/// Four ranks that do the same work: 10 s of steps, 2 s of them waiting.
std::vector<RankTimes> equal_ranks() {
  const RankTimes rank{.steps = 10,
                       .data = 1,
                       .update = 0.5,
                       .exposed_communication = 2,
                       .core_share = 0.99,
                       .samples = 1000,
                       .clock_ghz = 3};
  return std::vector<RankTimes>(4, rank);
}

/// The same, but rank 2 computes 1 s longer while it waits less.
std::vector<RankTimes> slow_rank() {
  std::vector<RankTimes> ranks = equal_ranks();
  ranks[2].exposed_communication = 1;
  return ranks;
}

std::string cause_of(const std::vector<RankTimes>& ranks) {
  const auto found = find_straggler(ranks);
  if (!found) return "none";
  CHECK(found->rank == 2);
  CHECK(found->excess == Approx(0.1));
  CHECK(!found->evidence.empty());
  return found->cause;
}

}  // namespace

TEST_CASE("ranks that compute for equal times have no straggler") {
  CHECK(!find_straggler(equal_ranks()));
  CHECK(!find_straggler(std::vector<RankTimes>(1)));
  CHECK(!find_straggler(std::vector<RankTimes>(3)));  // a run without steps
  std::vector<RankTimes> ranks = equal_ranks();
  ranks[1].exposed_communication = 1.6;  // 4 % of the steps
  CHECK(!find_straggler(ranks));
}

TEST_CASE("a straggler is named with the cause that explains half of its excess") {
  std::vector<RankTimes> ranks = slow_rank();
  CHECK(cause_of(ranks) == "compute");
  ranks[2].data = 1.4;
  CHECK(cause_of(ranks) == "compute");
  ranks[2].data = 1.9;
  CHECK(cause_of(ranks) == "data");

  ranks = slow_rank();
  ranks[2].samples = 1120;
  CHECK(cause_of(ranks) == "samples");

  ranks = slow_rank();
  ranks[2].core_share = 0.92;
  CHECK(cause_of(ranks) == "other programs");

  ranks = slow_rank();
  ranks[2].clock_ghz = 2.6;
  CHECK(cause_of(ranks) == "clock frequency");
  ranks[2].clock_ghz = 2.95;
  CHECK(cause_of(ranks) == "compute");
}

TEST_CASE("a rank that takes the micro-batches of a slower one is no straggler") {
  std::vector<RankTimes> ranks = slow_rank();
  ranks[2].samples = 1600;
  ranks[1].samples = 500;
  CHECK(cause_of(ranks) == "none");
  ranks[2].samples = 1120, ranks[1].samples = 900;
  CHECK(cause_of(ranks) == "samples");
}

TEST_CASE("of two ranks, the slower one is the straggler") {
  std::vector<RankTimes> ranks = slow_rank();
  ranks.erase(ranks.begin(), ranks.begin() + 1);
  ranks.pop_back();
  REQUIRE(ranks.size() == 2);
  const auto found = find_straggler(ranks);
  REQUIRE(found);
  CHECK(found->rank == 1);
}

TEST_CASE("a slow link is one that takes twice the time of the others") {
  const auto found = find_slow_link(std::vector{1e-3, 0.0, 1.1e-3, 0.0, 2.5e-3, 0.9e-3});
  REQUIRE(found);
  CHECK(found->rank == 4);
  CHECK(found->cause == "network");
  CHECK(found->evidence == "messages of its node travel at 26 MB/s, those of the median node at 66 MB/s");
  CHECK(!find_slow_link(std::vector{1e-3, 1.5e-3, 1e-3}));
  CHECK(!find_slow_link(std::vector{1e-3, 9e-3}));  // two nodes have one link
  CHECK(!find_slow_link({}));
}
