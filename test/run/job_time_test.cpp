#include "convoke/run/stopping.hpp"

#include <ctime>

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/variable.hpp"

using namespace convoke::run;

namespace {

/// A squeue that prints `answer` for the arguments that we use, and fails otherwise.
struct Squeue {
  TemporaryFolder folder;
  Variable path{"PATH", folder.path().string() + ":" + std::getenv("PATH")};

  explicit Squeue(const std::string& answer, const std::string& job = "77") {
    std::ofstream(folder / "squeue") << "#!/bin/sh\n"
                                     << "[ \"$*\" = '--noheader --jobs=" << job
                                     << " --format=%L' ] || exit 1\n"
                                     << answer << "\n";
    permissions(folder / "squeue", fs::perms::owner_all);
  }
};

}  // namespace

TEST_CASE("Slurm's times are parsed") {
  CHECK(slurm_seconds("1-02:03:04") == 93784.0);
  CHECK(slurm_seconds("02:03:04") == 7384.0);
  CHECK(slurm_seconds("3:04") == 184.0);
  CHECK(slurm_seconds("0:00") == 0.0);
  for (const char* text : {"UNLIMITED", "INVALID", "NOT_SET", "", "1:2:3:4", "3:04 h"}) {
    INFO(text);
    CHECK_FALSE(slurm_seconds(text));
  }
}

TEST_CASE("the remaining time comes from the controller, or from the job's environment") {
  const Variable job("SLURM_JOB_ID", "77");
  const Variable end("SLURM_JOB_END_TIME", std::to_string(std::time(nullptr) + 300));
  {
    const Squeue squeue("echo 10:00");
    CHECK(slurm_seconds_left() == 600.0);
  }
  {
    const Squeue squeue("echo UNLIMITED");
    CHECK_FALSE(slurm_seconds_left());
  }
  {
    const Squeue squeue("echo 'cannot contact controller' >&2; exit 1");
    const double left = slurm_seconds_left().value();
    CHECK(left <= 300);
    CHECK(left > 280);
  }
  {
    const Variable array("SLURM_ARRAY_JOB_ID", "77"), task("SLURM_ARRAY_TASK_ID", "3");
    const Squeue squeue("echo 20:00", "77_3");  // 77 would list all jobs of the array
    CHECK(slurm_seconds_left() == 1200.0);
  }
  {
    const Variable array("SLURM_ARRAY_JOB_ID", "76"), task("SLURM_ARRAY_TASK_ID", "3");
    const Squeue squeue("echo 20:00", "77");  // a job of that array submitted this one
    CHECK(slurm_seconds_left() == 1200.0);
  }
  const Variable no_job("SLURM_JOB_ID", "");
  CHECK_FALSE(slurm_seconds_left());
}

TEST_CASE("training ends before its job; a setting that leaves no time to train is refused") {
  CHECK_FALSE(deadline_before(in_seconds(120), 0));
  CHECK_FALSE(deadline_before(std::nullopt, 60));
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> until = deadline_before(in_seconds(120), 90).value() - now;
  CHECK(until.count() > 29);
  CHECK(until.count() < 31);
  CHECK(error_of([] { deadline_before(in_seconds(120), 120); }) ==
        "this job ends in 120 s, but run.stop_before reserves the last 120 s: no time is left to train");
}
