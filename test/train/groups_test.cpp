#include "convoke/train/groups.hpp"

#include "convoke/train/job.hpp"
#include "support/catch.hpp"

using convoke::train::group_of;
using convoke::train::Groups;
using convoke::train::member_seed;

TEST_CASE("groups are contiguous ranks, and their sizes differ by at most one") {
  for (std::int64_t ranks = 1; ranks <= 9; ++ranks) {
    for (std::int64_t groups = 1; groups <= ranks; ++groups) {
      std::map<std::int64_t, std::int64_t> sizes;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const std::int64_t group = group_of(rank, ranks, groups);
        if (rank > 0) REQUIRE(group - group_of(rank - 1, ranks, groups) <= 1);
        ++sizes[group];
      }
      REQUIRE(sizes.size() == static_cast<std::size_t>(groups));
      for (const auto& [group, size] : sizes)
        REQUIRE((size == ranks / groups || size == (ranks + groups - 1) / groups));
    }
  }
}

TEST_CASE("members have different seeds; member 0 has the run's seed") {
  CHECK(member_seed(7, 0) == 7);
  std::map<std::uint64_t, int> seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (std::int64_t member = 0; member < 20; ++member) ++seen[member_seed(seed, member)];
  }
  CHECK(seen.size() == 400);  // runs with neighboring seeds share no member seed
}
