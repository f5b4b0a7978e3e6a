#include "convoke/run/lingering_launcher.hpp"

#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include "convoke/run/run_lock.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace convoke;
using namespace std::chrono_literals;

namespace {

constexpr double kPatience = 0.05;  // seconds

bool lingers_within(run::LingeringLauncher& launcher, std::chrono::milliseconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    if (launcher.lingers()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

}  // namespace

TEST_CASE("a launcher lingers when its run has a summary and no lock any more") {
  const TemporaryFolder run;
  run::LingeringLauncher launcher(run.path(), kPatience);
  CHECK_FALSE(lingers_within(launcher, 100ms));

  std::optional<run::RunLock> lock(run.path());
  std::ofstream(run / "summary.json") << "{}";
  CHECK_FALSE(lingers_within(launcher, 100ms));

  lock.reset();
  CHECK_FALSE(launcher.lingers());
  CHECK(lingers_within(launcher, 10s));
}

TEST_CASE("the summary of an earlier job does not count") {
  const TemporaryFolder run;
  std::ofstream(run / "summary.json") << "{}";
  run::LingeringLauncher launcher(run.path(), kPatience);
  CHECK_FALSE(lingers_within(launcher, 200ms));
}

TEST_CASE("a run without a folder has not finished") {
  const TemporaryFolder folder;
  run::LingeringLauncher launcher(folder / "none", kPatience);
  CHECK_FALSE(lingers_within(launcher, 100ms));
}
