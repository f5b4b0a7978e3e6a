// Output of sinfo from real clusters.
#include "convoke/slurm/partition.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::slurm;

namespace {

// P|a|l|D|c|m|z|T; nodes of 2 sockets with 24 cores of 2 threads, some with more memory, some unavailable.
constexpr const char* kText =
    "batch*|up|2-00:00:00|90|96|192000|2:24:2|idle\n"
    "batch*|up|2-00:00:00|20|96|192000|2:24:2|allocated\n"
    "batch*|up|2-00:00:00|6|96|768000|2:24:2|mixed\n"
    "batch*|up|2-00:00:00|3|96|192000|2:24:2|down*\n"
    "batch*|up|2-00:00:00|1|96|192000|2:24:2|drained\n"
    "debug|up|30:00|2|48|192000|2:24:1|idle\n"
    "old|down|infinite|8|16|64000|2:8:1|idle\n"
    "gone|up|infinite|8|16|64000|2:8:1|idle*\n";

}  // namespace

TEST_CASE("partitions are read from sinfo") {
  const std::vector<Partition> all = parse_sinfo(kText);
  REQUIRE(all.size() == 4);
  const Partition& batch = choose(all, "");
  CHECK(batch.name == "batch");
  CHECK(batch.time_limit == 2 * 86400);
  REQUIRE(batch.kinds.size() == 2);
  CHECK(batch.kinds[0].count == 110);  // idle and allocated nodes, which will be free later
  CHECK(batch.kinds[0].cores == 48);
  CHECK(batch.kinds[0].sockets == 2);
  CHECK(batch.kinds[0].threads_per_core == 2);
  CHECK(batch.kinds[1].memory_mib == 768000);
  CHECK(batch.nodes() == 116);
  CHECK(choose(all, "debug").time_limit == 1800);
}

TEST_CASE("unknown or unavailable partitions are refused, and the available ones listed") {
  const std::vector<Partition> all = parse_sinfo(kText);
  CHECK_THAT(error_of([&] { choose(all, "batc"); }), Contains("did you mean \"batch\""));
  CHECK_THAT(error_of([&] { choose(all, "old"); }), Contains("all nodes of partition old"));
  CHECK_THAT(error_of([&] { choose(all, "gone"); }), Contains("all nodes of partition gone"));
  CHECK_THAT(error_of([&] { choose({}, ""); }), Contains("no partition"));
  CHECK_THAT(error_of([&] { parse_sinfo("slurm is down\n"); }), Contains("slurm is down"));
}
