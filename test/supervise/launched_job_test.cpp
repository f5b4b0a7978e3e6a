#include "convoke/supervise/launched_job.hpp"

#include "convoke/run/run_folder.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace convoke;
using namespace std::chrono_literals;

namespace {

constexpr double kPatience = 0.05;  // seconds

std::optional<int> code_within(supervise::LaunchedJob& job, std::chrono::milliseconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    if (const auto code = job.exit_code()) return code;
    std::this_thread::sleep_for(1ms);
  }
  return {};
}

supervise::LaunchedJob sleeping(const fs::path& run) { return {{"sleep", "100"}, run, {}, kPatience}; }

}  // namespace

TEST_CASE("a job has the exit code of its launcher") {
  const TemporaryFolder run;
  supervise::LaunchedJob job({"sh", "-c", "echo text; exit 7"}, run.path(), run / "log");
  CHECK(code_within(job, 10s) == 7);
  CHECK_FALSE(job.lingered());
  CHECK(job.seconds() > 0);
}

TEST_CASE("a launcher is ended when its run has a summary and no lock any more") {
  const TemporaryFolder run;
  supervise::LaunchedJob job = sleeping(run.path());
  CHECK_FALSE(code_within(job, 100ms));

  std::optional<run::RunLock> lock(run.path());
  std::ofstream(run / "summary.json") << "{}";
  CHECK_FALSE(code_within(job, 100ms));

  lock.reset();
  CHECK_FALSE(job.exit_code());
  CHECK(code_within(job, 10s) == 0);
  CHECK(job.lingered());
  CHECK(job.exit_code() == 0);
}

TEST_CASE("an mpirun that does not end after its ranks is killed") {
  const TemporaryFolder folder;
  std::ofstream(folder / "mpirun") << "#!/bin/sh\nsleep $1\neval \"$2\"\n";
  fs::permissions(folder / "mpirun", fs::perms::owner_all);
  const auto check = [&](const char* rank_seconds, const char* after, double patience) {
    CAPTURE(rank_seconds, after);
    supervise::LaunchedJob job({(folder / "mpirun").string(), rank_seconds, after}, folder / "run", {},
                               patience);
    CHECK_FALSE(code_within(job, 100ms));  // its rank runs
    CHECK(code_within(job, 20s) == 137);
    CHECK_FALSE(job.lingered());
  };
  check("1", "kill -STOP $$", kPatience);
  check("1", "trap 'exit 1' TERM; while :; do :; done", kPatience);
  check("0.05", "kill -STOP $$", 2);  // the rank has ended before the first look at the files
}

TEST_CASE("neither the summary of an earlier job counts, nor a run without a folder") {
  const TemporaryFolder run;
  std::ofstream(run / "summary.json") << "{}";
  for (const auto& folder : {run.path(), run / "none"}) {
    supervise::LaunchedJob job = sleeping(folder);
    CHECK_FALSE(code_within(job, 100ms));
    fs::remove(folder / "summary.json");  // the run trains on
    CHECK_FALSE(code_within(job, 100ms));
  }
}
