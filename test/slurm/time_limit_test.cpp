// Times in Slurm's format.
#include "convoke/slurm/time_limit.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::slurm;

TEST_CASE("times are read in every form of sbatch's manual") {
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
}

TEST_CASE("times are written so that they read back") {
  CHECK(format_time(3600) == "01:00:00");
  CHECK(format_time(2 * 86400 + 61) == "2-00:01:01");
  for (const std::int64_t seconds : {1, 59, 60, 3599, 86399, 86400, 1000000}) {
    CHECK(parse_time(format_time(seconds)) == seconds);
  }
}
