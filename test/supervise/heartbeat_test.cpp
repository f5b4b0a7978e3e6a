#include "convoke/supervise/heartbeat.hpp"

#include "convoke/run/run_folder.hpp"
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

namespace {

RankLiveness working(const char* phase) { return {.newest = Heartbeat{.host = "n1", .phase = phase}}; }
RankLiveness waiting(double seconds) {
  return {.newest = Heartbeat{
              .host = "n1", .phase = "exchange", .waits_for = "a barrier", .waiting_seconds = seconds}};
}
RankLiveness silent(RankLiveness before, double seconds) {
  before.silent_seconds = seconds;
  return before;
}
const RankLiveness kUnseen{};
const RankLiveness kEnded{.newest = Heartbeat{}, .silent_seconds = 1e6, .ended = true};

constexpr double kTimeout = 600;

std::optional<Stall> stall(std::vector<RankLiveness> ranks) { return find_stall(ranks, kTimeout); }

}  // namespace

TEST_CASE("a rank that lives and does not wait is working, however long the others wait") {
  for (const char* phase : {"load", "evaluation", "checkpoint", "gather", "step", ""}) {
    CHECK_FALSE(stall({waiting(1e6), working(phase), waiting(1e6)}));
  }
  CHECK_FALSE(stall({waiting(1e6), silent(working("checkpoint"), 599)}));
  CHECK_FALSE(stall({waiting(1e6), waiting(0.1)}));  // it arrived just now
  CHECK_FALSE(stall({waiting(1e6), kUnseen}));       // on a host that does not see the run folder
  CHECK_FALSE(stall({working("step"), working("step")}));
  CHECK_FALSE(stall({kEnded, kEnded}));
}

TEST_CASE("a job stands still if all wait, or if some wait and another is silent") {
  const auto dead = stall({waiting(600), silent(working("step"), 600), working("evaluation"), kEnded});
  REQUIRE(dead);
  CHECK(dead->silent == std::vector{1});
  CHECK(dead->waiting == std::vector{0});

  const auto locked = stall({waiting(600), waiting(601), kEnded});
  REQUIRE(locked);
  CHECK(locked->silent.empty());
  CHECK(locked->waiting == std::vector{0, 1});

  // A rank that was stopped while it waited is silent, too. If no rank waits for it, the job goes on.
  CHECK(stall({waiting(600), silent(waiting(20), 600)}).value().silent == std::vector{1});
  CHECK_FALSE(stall({working("step"), silent(working("step"), 1e6)}));
}

TEST_CASE("a stall is described with host, step and phase of each rank") {
  std::vector<RankLiveness> ranks{waiting(605), silent(working("step"), 610), kUnseen, kEnded};
  ranks[0].newest->step = 120;
  ranks[1].newest->host = "a-host-with-a-long-name";
  const std::string text = to_text(find_stall(ranks, kTimeout).value(), ranks);
  CHECK_THAT(
      text,
      Contains("the job stands still: rank 1 has given no sign of life for 10 min 10 s, and others wait\n"));
  CHECK_THAT(
      text,
      Contains("\n     0  n1                            120  exchange, waits 10 min 05 s for a barrier\n"));
  CHECK_THAT(
      text,
      Contains(
          "\n     1  a-host-with-a-long-name         0  no sign of life for 10 min 10 s; before: step\n"));
  CHECK_THAT(text, Contains("was never seen\n"));
  CHECK_THAT(text, Contains("has ended"));

  const std::vector<RankLiveness> all{waiting(700), waiting(605)};
  CHECK_THAT(to_text(find_stall(all, kTimeout).value(), all),
             Contains("all ranks have waited for each other for 11 min 40 s\n"));
}
