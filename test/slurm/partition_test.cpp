// Output of sinfo from real clusters, and times in the format of Slurm.
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

TEST_CASE("times are read in every form of sbatch's manual, and written so that they read back") {
  CHECK(parse_time("90") == 90 * 60);
  CHECK(parse_time("90:30") == 90 * 60 + 30);
  CHECK(parse_time("1:30:05") == 5405);
  CHECK(parse_time("2-0") == 2 * 86400);
  CHECK(parse_time("2-12:30") == 2 * 86400 + 12 * 3600 + 30 * 60);
  CHECK(parse_time("2-12:30:15") == 2 * 86400 + 12 * 3600 + 30 * 60 + 15);
  CHECK(parse_time("infinite") == kUnlimited);
  for (const char* text : {"", "soon", "1:2:3:4", "-5", "1-", "1h", "1:-2", "9999999999"}) {
    CAPTURE(text);
    CHECK_THAT(error_of([&] { parse_time(text, "--time"); }), Contains("--time"));
  }
  CHECK(format_time(3600) == "01:00:00");
  CHECK(format_time(2 * 86400 + 61) == "2-00:01:01");
  for (const std::int64_t seconds : {1, 59, 60, 3599, 86399, 86400, 1000000}) {
    CHECK(parse_time(format_time(seconds)) == seconds);
  }
}
