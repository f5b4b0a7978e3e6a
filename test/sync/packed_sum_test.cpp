#include "convoke/sync/packed_sum.hpp"

#include "support/catch.hpp"
#include "support/world.hpp"

using namespace convoke;

namespace {

// Numbers of very different size, so that messages differ in length from rank to rank.
std::int64_t number(int rank, std::size_t i) {
  const int shift = static_cast<int>((i / 50 + static_cast<std::size_t>(rank) * 17) % 58);
  return (static_cast<std::int64_t>(i % 13) - 6) * (std::int64_t{1} << shift) + rank;
}

}  // namespace

TEST_CASE("a packed sum is the sum of the ranks, whatever the length of their messages") {
  const sync::SumChannels channels(world());
  for (const std::size_t size : {1, 2, 63, 64, 1000, 30'011}) {
    std::vector<std::int64_t> values(size), expected(size);
    sync::PackedSum sum(channels, values);
    for (int step = 0; step < 2; ++step) {
      for (std::size_t i = 0; i < size; ++i) {
        values[i] = number(world().rank(), i + static_cast<std::size_t>(step));
        expected[i] = 0;
        for (int rank = 0; rank < world().size(); ++rank)
          expected[i] += number(rank, i + static_cast<std::size_t>(step));
      }
      sum.start();
      while (!sum.combine(false)) {
      }
      sum.finish(true);
      INFO("size " << size << ", step " << step);
      CHECK(values == expected);
    }
  }
}

TEST_CASE("packed sums that run at the same time do not mix") {
  const sync::SumChannels channels(world());
  std::vector<std::vector<std::int64_t>> values(5, std::vector<std::int64_t>(300));
  std::vector<std::unique_ptr<sync::PackedSum>> sums;
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (std::size_t i = 0; i < 300; ++i) values[k][i] = number(world().rank(), i + 100 * k);
    sums.push_back(std::make_unique<sync::PackedSum>(channels, values[k]));
    sums.back()->start();
  }
  // Each rank begins the second phases at its own pace.
  std::size_t combined = 0;
  for (int call = 0; combined < sums.size(); ++call) {
    if (call % (world().rank() + 1) == 0 && sums[combined]->combine(false)) ++combined;
  }
  for (auto& sum : sums) sum->finish(true);
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (std::size_t i = 0; i < 300; ++i) {
      std::int64_t expected = 0;
      for (int rank = 0; rank < world().size(); ++rank) expected += number(rank, i + 100 * k);
      CHECK(values[k][i] == expected);
    }
  }
}
