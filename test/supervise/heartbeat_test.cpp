#include "convoke/supervise/heartbeat.hpp"

#include "convoke/run/run_lock.hpp"
#include "convoke/supervise/run_view.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace convoke::run;
using namespace convoke::supervise;

TEST_CASE("a heartbeat is read as it was written, also over a longer one") {
  const TemporaryFolder folder;
  Heartbeat beat{.rank = 3,
                 .host = "a-host-with-a-long-name",
                 .beat = 7,
                 .step = 120,
                 .phase = "exchange",
                 .waits_for = "a barrier",
                 .waiting_seconds = 1.5};
  CHECK(write_heartbeat(folder.path(), beat));
  beat.host = "n1";
  beat.beat = 8;
  CHECK(write_heartbeat(folder.path(), beat));
  const Heartbeat read = read_heartbeat(folder.path(), 3).value();
  CHECK(read.rank == 3);
  CHECK(read.host == "n1");
  CHECK(read.beat == 8);
  CHECK(read.step == 120);
  CHECK(read.waiting_seconds == 1.5);
  CHECK(activity_text(read) == "exchange, waits 1.5 s for a barrier");

  std::ofstream(folder / "rank-3", std::ios::in | std::ios::binary) << "{{";  // half a write
  CHECK_FALSE(read_heartbeat(folder.path(), 3));
  CHECK_FALSE(read_heartbeat(folder.path(), 4));
  CHECK_FALSE(write_heartbeat(folder / "absent", beat));
}

TEST_CASE("the view of a run has a row for each rank, the silent ones first if there are many") {
  const TemporaryFolder folder;
  const RunLock lock(folder.path());
  create_directory(heartbeat_folder(folder.path()));
  const auto write = [&](int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      write_heartbeat(
          heartbeat_folder(folder.path()),
          {.rank = rank, .host = "n" + std::to_string(rank / 2), .step = 1200, .phase = "evaluation"});
    }
  };
  write(3);
  const RunView view = view_run(folder.path());
  REQUIRE(view.ranks.size() == 3);
  CHECK(view.ranks[2].host == "n1");
  CHECK(view.ranks[2].age_seconds < 60);
  CHECK_THAT(to_text(view, 80), Contains("  n1        1,200") && Contains(" ago  evaluation\n"));

  write(20);
  using namespace std::chrono_literals;
  const auto file = heartbeat_file(heartbeat_folder(folder.path()), 17);
  last_write_time(file, fs::last_write_time(file) - 1h);
  const std::string text = to_text(view_run(folder.path()), 80);
  CHECK_THAT(text, Contains("17  n8        1,200"));
  CHECK_THAT(text, Contains("and 4 more\n"));
}
