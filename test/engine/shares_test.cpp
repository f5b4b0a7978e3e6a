#include "convoke/engine/shares.hpp"

#include "convoke/core/random.hpp"
#include "support/catch.hpp"

// The rules by which ranks share the sums of a node, and the micro-batches of a step.

using namespace convoke;
using namespace convoke::engine;

namespace {

std::vector<std::int64_t> counts_of(const MicroBatchShares& shares, std::int64_t micro_batches, int ranks) {
  std::vector<std::int64_t> counts;
  std::int64_t next = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const MicroBatchRange range = shares.micro_batches(micro_batches, rank);
    CHECK(range.first == next);
    next += range.count;
    counts.push_back(range.count);
  }
  CHECK(next == micro_batches);
  return counts;
}

/// The smallest time of all ways to give `micro_batches` micro-batches to the ranks from `rank` on, at least
/// one to each.
double best_of_all(std::int64_t micro_batches, std::size_t rank, std::vector<std::int64_t>& counts,
                   std::span<const RankSpeed> ranks) {
  if (rank + 1 == ranks.size()) {
    counts[rank] = micro_batches;
    return seconds_of(counts, ranks);
  }
  double best = 1e300;
  const auto others = static_cast<std::int64_t>(ranks.size() - rank - 1);
  for (counts[rank] = 1; counts[rank] <= micro_batches - others; ++counts[rank])
    best = std::min(best, best_of_all(micro_batches - counts[rank], rank + 1, counts, ranks));
  return best;
}

}  // namespace

TEST_CASE("equal shares of a step differ by at most one micro-batch") {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    for (std::int64_t micro_batches = 1; micro_batches <= 30; ++micro_batches) {
      const std::vector<std::int64_t> counts = counts_of(MicroBatchShares(ranks), micro_batches, ranks);
      const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
      CHECK(*most - *least <= 1);
    }
  }
}

TEST_CASE("unequal shares hold in a full step, and leave no rank idle in a smaller one") {
  for (const std::vector<std::int64_t>& full : std::vector<std::vector<std::int64_t>>{
           {1, 15}, {15, 1}, {2, 9, 5}, {1, 1, 14}, {3, 3}, {1, 1, 1}, {7, 1, 2, 6}}) {
    const auto ranks = static_cast<int>(full.size());
    const MicroBatchShares shares{std::span(full)};
    const std::int64_t micro_batches = std::accumulate(full.begin(), full.end(), std::int64_t{0});
    CHECK(counts_of(shares, micro_batches, ranks) == full);
    for (std::int64_t fewer = 1; fewer < micro_batches; ++fewer) {
      const std::vector<std::int64_t> counts = counts_of(shares, fewer, ranks);
      CHECK(*std::min_element(counts.begin(), counts.end()) >= (fewer >= ranks ? 1 : 0));
    }
  }
  const std::vector<std::int64_t> full{4, 12};
  CHECK(counts_of(MicroBatchShares(std::span(full)), 8, 2) == std::vector<std::int64_t>{2, 6});
}

TEST_CASE("the last micro-batch of a share may have fewer samples") {
  const std::vector<std::int64_t> full{1, 3};
  const MicroBatchShares shares{std::span(full)};
  CHECK(shares.samples(32, 8, 0).count == 8);
  CHECK(shares.samples(32, 8, 1).first == 8);
  CHECK(shares.samples(32, 8, 1).count == 24);
  CHECK(shares.samples(21, 8, 0).count == 8);  // three micro-batches, of 8, 8 and 5
  CHECK(shares.samples(21, 8, 1).count == 13);
  CHECK(shares.samples(5, 8, 0).count == 0);
  CHECK(shares.samples(5, 8, 1).count == 5);
}

TEST_CASE("micro-batches are divided in proportion to the speed") {
  using Counts = std::vector<std::int64_t>;
  const std::vector<RankSpeed> one_fast{{2, 1}, {2, 1}, {1, 1}};
  CHECK(divide_by_speed(16, one_fast) == Counts{4, 4, 8});
  const std::vector<RankSpeed> one_very_slow{{100, 1}, {1, 1}};
  CHECK(divide_by_speed(8, one_very_slow) == Counts{1, 7});
  const std::vector<RankSpeed> more_workers{{1, 1}, {1, 3}};
  CHECK(divide_by_speed(8, more_workers) == Counts{2, 6});
  const std::vector<RankSpeed> alike{{1, 4}, {1, 4}};
  CHECK(divide_by_speed(6, alike) == Counts{3, 3});  // although each rank could take four at once
  CHECK(divide_by_speed(2, alike) == Counts{1, 1});
}

TEST_CASE("no other division of the micro-batches is faster") {
  for (std::uint32_t i = 0; i < 60; ++i) {
    RandomStream random({3, Purpose::kBench, 0, i});
    std::vector<RankSpeed> ranks(2 + random.below(3));
    for (RankSpeed& rank : ranks)
      rank = {0.1 + static_cast<double>(random.below(30)), static_cast<std::int64_t>(1 + random.below(3))};
    const auto micro_batches = static_cast<std::int64_t>(ranks.size() + random.below(10));
    std::vector<std::int64_t> counts(ranks.size());
    const double best = best_of_all(micro_batches, 0, counts, ranks);
    CHECK(seconds_of(divide_by_speed(micro_batches, ranks), ranks) == best);
  }
}

TEST_CASE("the leaders of a node have slices that cover the sums, the other ranks have none") {
  std::size_t end = 0;
  for (int place = 0; place < 3; ++place) {
    const engine::Range slice = NodeShare(1003, place, 3).slice();
    CHECK(slice.begin == end);
    end = slice.end;
  }
  CHECK(end == 1003);
  CHECK(NodeShare(1003, 3, 3).slice().size() == 0);
  CHECK(NodeShare(1003, 3, 3).done());
}

TEST_CASE("a leader adds each element of its slice once, when all workers have it") {
  NodeShare share(320, 1, 2);  // elements 160 to 320
  for (int step = 0; step < 2; ++step) {
    share.begin_step();
    CHECK(share.take(100).size() == 0);
    CHECK(share.take(200).begin == 160);
    CHECK(share.ready() == 40);
    CHECK(share.take(200).size() == 0);
    CHECK(!share.done());
    const engine::Range rest = share.take(400);
    CHECK(rest.begin == 200);
    CHECK(rest.end == 320);
    CHECK(share.done());
  }
}

TEST_CASE("the part of a slice that may be rounded") {
  CHECK(NodeShare(320, 0, 2).bf16_elements(200) == 160);
  CHECK(NodeShare(320, 1, 2).bf16_elements(200) == 40);
  CHECK(NodeShare(320, 1, 2).bf16_elements(100) == 0);
}
