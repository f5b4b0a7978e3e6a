#include "convoke/supervise/watchdog.hpp"

#include "convoke/core/timeline.hpp"
#include "support/catch.hpp"
#include "support/training.hpp"
#include "support/world.hpp"

// The alarm itself ends the process: test/apps/stall_test.cpp stops ranks of the program. Here nothing may
// end the job.

using namespace convoke;
using namespace convoke::run;
using namespace convoke::supervise;
using namespace std::chrono_literals;

TEST_CASE("a rank that is slow in an evaluation, a checkpoint or while it loads gives no alarm") {
  const tiny::Run run(world(), "watchdog");
  const auto folder = heartbeat_folder(run.folder.path());
  Timeline timeline;
  const Timeline::Use use(timeline);
  constexpr double kTimeout = 0.1;
  {
    const Watchdog watchdog(run.folder.path(), kTimeout, world());
    for (const Activity phase : {Activity::kEvaluation, Activity::kCheckpoint, Activity::kLoad}) {
      if (world().rank() == world().size() - 1) {
        const Span span(phase);
        std::this_thread::sleep_for(300ms);
        const Heartbeat mine = read_heartbeat(folder, world().rank()).value();
        CHECK(mine.phase == name_of(phase));
        CHECK(mine.waits_for.empty());
        if (world().rank() > 0) {
          const Heartbeat other = read_heartbeat(folder, 0).value();
          CHECK(other.waits_for == "a barrier");
          CHECK(other.waiting_seconds > kTimeout);
        }
      }
      world().barrier();
    }
    CHECK(read_heartbeats(folder).size() == static_cast<std::size_t>(world().size()));
    world().barrier();
  }
  world().barrier();
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("without a timeout, ranks write heartbeats, and no rank ends the job") {
  const tiny::Run run(world(), "unwatched");
  const Watchdog watchdog(run.folder.path(), 0, world());
  CHECK(read_heartbeats(heartbeat_folder(run.folder.path())).size() ==
        static_cast<std::size_t>(world().size()));
  world().barrier();
}

TEST_CASE("a job without a run folder has its heartbeats next to its output, and leaves nothing there") {
  const tiny::Run run(world(), "beside");
  const auto folder = run.folder.path() / ".data.h5.heartbeats";
  constexpr double kTimeout = 60;
  const std::string hint = "start it again";
  for (const bool killed : {false, true}) {  // the second time, a job that was killed has left heartbeats
    world().barrier();                       // the last rank that ends its watchdog removes the folder
    if (killed && world().root()) {
      fs::create_directory(folder);
      write_heartbeat(folder, {.rank = 7});
      fs::create_directory(folder / "reported");
    }
    world().barrier();
    const auto watchdog = Watchdog::beside(run.folder.path() / "data.h5", kTimeout, hint, world());
    CHECK((watchdog != nullptr) == (world().size() > 1));
    world().barrier();
    if (watchdog) {
      CHECK(read_heartbeats(folder).size() == static_cast<std::size_t>(world().size()));
      CHECK_FALSE(fs::exists(folder / "reported"));
      // Another job with this output is not watched.
      CHECK(Watchdog::beside(run.folder.path() / "data.h5", kTimeout, hint, world()) == nullptr);
    } else if (world().root()) {
      fs::remove_all(folder);
    }
    world().barrier();
  }
  world().barrier();
  CHECK_FALSE(fs::exists(folder));
  CHECK(Watchdog::beside(run.folder.path() / "data.h5", 0, hint, world()) == nullptr);
}
