#include "convoke/run/run_folder.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <thread>

#include "convoke/core/error.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/variable.hpp"

using convoke::run::RunLock;
using namespace std::chrono_literals;

namespace {

// Writes the lock of a process on another host, renewed `ago`.
void leave_lock(const TemporaryFolder& folder, const std::string& job, std::chrono::seconds ago) {
  std::ofstream(folder / "lock") << R"({"host":"elsewhere","pid":12,"started":"1","pid_space":"","job":")"
                                 << job << R"(","restarts":0})";
  const auto now = fs::last_write_time(folder / "lock");
  fs::last_write_time(folder / "lock", now - ago);
}

}  // namespace

TEST_CASE("a folder has one owner at a time, and is free afterwards") {
  const TemporaryFolder folder;
  {
    const RunLock lock(folder.path());
    CHECK(lock.taken_over().empty());
    CHECK_THAT(error_of([&] { const RunLock second(folder.path()); }),
               Contains("is in use by process " + std::to_string(::getpid()) + " on "));
    CHECK(entries_in(folder.path()).size() == 1);
  }
  CHECK(entries_in(folder.path()).empty());
  CHECK(RunLock(folder.path()).taken_over().empty());
}

TEST_CASE("a folder with locks, and with those that others try to take, has no content") {
  const TemporaryFolder folder;
  CHECK_FALSE(convoke::run::has_content(folder.path()));
  const RunLock lock(folder.path());
  std::ofstream(folder / "lock.0123456789ab.tmp") << "another";
  CHECK_FALSE(convoke::run::has_content(folder.path()));
  std::ofstream(folder / "locks.txt") << "notes";
  CHECK(convoke::run::has_content(folder.path()));
  CHECK_THROWS_AS(convoke::run::has_content(folder / "none"), convoke::Error);
}

TEST_CASE("the lock of a process that ended is taken over") {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock* const never_given_back = new RunLock(folder.path());
    static_cast<void>(never_given_back);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  REQUIRE(exists(folder / "lock"));
  CHECK_THAT(RunLock(folder.path()).taken_over(), Contains("process " + std::to_string(child) + " on "));
  CHECK(entries_in(folder.path()).empty());
}

TEST_CASE("a job ends if another one has taken over its run") {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock(folder.path(), 10ms);
    std::this_thread::sleep_for(30s);
    ::_exit(0);
  }
  while (!exists(folder / "lock")) std::this_thread::sleep_for(1ms);
  fs::remove(folder / "lock");
  leave_lock(folder, "", 0s);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
}

TEST_CASE("a zombie process holds no lock") {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    new RunLock(folder.path());
    ::_exit(0);
  }
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  CHECK(convoke::run::lock_holder(folder.path()).empty());
  CHECK_THAT(RunLock(folder.path()).taken_over(), Contains("process " + std::to_string(child) + " on "));
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("if two jobs take over the same lock at the same time, one of them gets it") {
  struct Shared {
    std::atomic<int> ready, tried, held;
  };
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  for (int round = 0; round < 200; ++round) {
    const TemporaryFolder folder;
    leave_lock(folder, "", 10min);
    auto* const shared = new (memory) Shared{};
    const auto take = [&] {
      ++shared->ready;
      while (shared->ready < 2) {
      }
      try {
        const RunLock lock(folder.path());
        ++shared->held;
        ++shared->tried;
        while (shared->tried < 2) ::usleep(100);
      } catch (const convoke::Error&) {
        ++shared->tried;
      }
    };
    const pid_t other = ::fork();
    if (other == 0) {
      take();
      ::_exit(0);
    }
    take();
    ::waitpid(other, nullptr, 0);
    REQUIRE(shared->held == 1);
    REQUIRE(entries_in(folder.path()).empty());
  }
  ::munmap(memory, sizeof(Shared));
}

TEST_CASE("a lock of another host is valid as long as it is renewed") {
  const TemporaryFolder folder;
  leave_lock(folder, "", 60s);
  CHECK_THAT(error_of([&] { const RunLock lock(folder.path()); }),
             Contains("is in use by process 12 on elsewhere, last seen 6"));
  leave_lock(folder, "7", 10min);
  CHECK(RunLock(folder.path()).taken_over() == "process 12 on elsewhere (Slurm job 7)");
}

TEST_CASE("a requeued job takes over its own lock at once") {
  const TemporaryFolder folder;
  const Variable job("SLURM_JOB_ID", "7");
  leave_lock(folder, "7", 1s);
  CHECK_THAT(error_of([&] { const RunLock lock(folder.path()); }), Contains("is in use"));
  const Variable restarts("SLURM_RESTART_COUNT", "1");
  CHECK(RunLock(folder.path()).taken_over() == "process 12 on elsewhere (Slurm job 7)");
}

TEST_CASE("an unreadable lock is valid until it is old") {
  const TemporaryFolder folder;
  std::ofstream(folder / "lock") << "{";
  fs::last_write_time(folder / "lock", fs::last_write_time(folder / "lock") + 10s);  // the clock was set
  try {
    const RunLock lock(folder.path());
    FAIL("the lock was ignored");
  } catch (const convoke::Error& error) {
    CHECK_THAT(error.what(), EndsWith("is in use by an unknown process, last seen 0 s ago"));
    CHECK_THAT(error.hint(), Contains("lock cannot be read: if no job uses this folder, remove it"));
  }
  fs::last_write_time(folder / "lock", fs::last_write_time(folder / "lock") - 10min);
  CHECK_THAT(RunLock(folder.path()).taken_over(), Contains("unknown process"));
}
