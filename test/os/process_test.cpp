#include "convoke/os/process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/variable.hpp"

using namespace convoke;

namespace {

int code_of(os::ChildProcess& child) {
  for (;;) {
    if (const auto code = child.exit_code()) return *code;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

TEST_CASE("a child process has a log, an exit code, and an end") {
  const TemporaryFolder folder;
  const fs::path log = folder / "log";
  os::ChildProcess child({"sh", "-c", "echo out; echo err >&2; read line || echo nothing; exit 7"}, log);
  CHECK(code_of(child) == 7);
  CHECK(child.exit_code() == 7);
  CHECK(bytes_of(log) == "out\nerr\nnothing\n");

  os::ChildProcess killed({"sh", "-c", "kill -9 $$"}, log);
  CHECK(code_of(killed) == 128 + SIGKILL);

  os::ChildProcess polite({"sh", "-c", "trap 'exit 3' TERM; while :; do sleep 0.02; done"}, log);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  polite.end();
  CHECK(polite.exit_code() == 3);

  os::ChildProcess stubborn({"sh", "-c", "trap '' TERM; while :; do sleep 0.02; done"}, log);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  stubborn.end(0.1);
  CHECK(stubborn.exit_code() == 128 + SIGKILL);

  CHECK_THAT(error_of([&] { os::ChildProcess({"no-such-program-here"}, log); }),
             Contains("cannot start no-such-program-here"));
}

TEST_CASE("the end of a child that was reaped elsewhere is noticed, but its exit code is lost") {
  const TemporaryFolder folder;
  struct sigaction reaped {};
  struct sigaction before {};
  reaped.sa_flags = SA_NOCLDWAIT;  // by the system
  sigaction(SIGCHLD, &reaped, &before);
  os::ChildProcess child({"sh", "-c", "exit 7"}, folder / "log");
  CHECK(code_of(child) == os::ChildProcess::kLost);
  child.end();
  {
    os::ChildProcess running({"sleep", "60"}, folder / "log");
    CHECK_FALSE(running.exit_code());
    running.end();
    CHECK(running.exit_code() == os::ChildProcess::kLost);
  }
  CHECK(os::run({"true"}).code == os::ChildProcess::kLost);
  sigaction(SIGCHLD, &before, nullptr);
}

TEST_CASE("a program whose parent ignores SIGCHLD has the exit codes of its children") {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  CHECK(os::run({"sh", "-c", "exit 7"}).code == 7);
  std::signal(SIGCHLD, before);
}

TEST_CASE("running a program passes its input, and returns its exit code and output") {
  const std::string long_text(1 << 20, 'x');  // more than fits into a pipe
  const os::Answer answer = os::run({"cat"}, {.input = long_text + "\n\n"});
  CHECK(answer.code == 0);
  CHECK(answer.output == long_text);

  const std::vector<std::string> both{"sh", "-c", "echo out; echo err >&2; exit 3"};
  CHECK(os::run(both).output == "out\nerr");
  CHECK(os::run(both, {.errors = false}).output == "out");
  CHECK(os::run(both).code == 3);
  CHECK(os::run({"sh", "-c", "kill -9 $$"}).code == 128 + SIGKILL);
  CHECK(os::run({"sh", "-c", "read line || echo nothing"}).output == "nothing");
  CHECK(os::run({"echo", "$HOME; echo 'no shell'"}).output == "$HOME; echo 'no shell'");

  const os::Answer none = os::run({"no-such-program-here"});
  CHECK(none.code == 127);
  CHECK_THAT(none.output, Contains("cannot start no-such-program-here"));
  CHECK(os::run({"sleep", "60"}, {.seconds = 0.05}).code == 128 + SIGKILL);
}

TEST_CASE("a child receives signals that the starting thread blocks") {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const os::Answer answer = os::run({"grep", "SigBlk", "/proc/self/status"});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  CHECK_THAT(answer.output, EndsWith("0000000000000000"));
}

TEST_CASE("a program is found on the PATH if it can be run") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "a/tool");  // a folder is not a program
  fs::create_directories(folder / "b");
  std::ofstream(folder / "b/tool") << "#!/bin/sh\n";
  const Variable path("PATH", folder.path().string() + "/a:" + folder.path().string() + "/b");
  CHECK_FALSE(os::find_program("tool"));
  fs::permissions(folder / "b/tool", fs::perms::owner_all);
  CHECK(os::find_program("tool") == folder / "b/tool");
  const Variable none("PATH", std::nullopt);
  CHECK_FALSE(os::find_program("tool"));
}

TEST_CASE("number and start identify a process while it runs") {
  CHECK(os::process_number() == ::getpid());
  CHECK_FALSE(os::start_of_process(::getpid()).empty());
  CHECK(os::start_of_process(0).empty());
  CHECK_FALSE(os::parent_name().empty());

  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  CHECK(os::has_children(::getpid()));
  const std::string started = os::start_of_process(child);
  CHECK_FALSE(started.empty());
  ::kill(child, SIGSTOP);
  CHECK(os::start_of_process(child) == started);  // stopped, not dead
  ::kill(child, SIGKILL);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);  // and not reaped
  CHECK(os::start_of_process(child).empty());
  CHECK_FALSE(os::has_children(::getpid()));
  ::waitpid(child, nullptr, 0);
  CHECK(os::start_of_process(child).empty());
}
