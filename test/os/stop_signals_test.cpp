#include "convoke/os/stop_signals.hpp"

#include <pty.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>

#include "support/catch.hpp"

using convoke::os::StopSignals;

TEST_CASE("a stop signal is remembered; the next one has no effect, also after destruction") {
  {
    const StopSignals signals;
    CHECK(StopSignals::received() == 0);
    std::raise(SIGUSR1);
    CHECK(StopSignals::received() == SIGUSR1);
  }
  std::raise(SIGUSR1);
  std::raise(SIGTERM);
  CHECK(StopSignals::received() == SIGUSR1);
  const StopSignals signals;
  CHECK(StopSignals::received() == 0);
}

TEST_CASE("a signal that comes after the results has no effect") {
  for (const int signal : {SIGTERM, SIGUSR1, SIGHUP}) {
    StopSignals().ignore_after();
    std::raise(signal);
    std::signal(signal, SIG_DFL);
  }
  CHECK(StopSignals::received() == 0);
}

TEST_CASE("a stop signal that the parent of the process blocked is received") {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  {
    const StopSignals signals;
    std::raise(SIGUSR1);
    CHECK(StopSignals::received() == SIGUSR1);
  }
  pthread_sigmask(SIG_SETMASK, &before, &blocked);
  CHECK(sigismember(&blocked, SIGUSR1) == 1);  // as before
}

TEST_CASE("without a stop signal the previous handlers are restored") {
  std::signal(SIGTERM, SIG_DFL);
  { const StopSignals signals; }
  struct sigaction now {};
  sigaction(SIGTERM, nullptr, &now);
  CHECK(now.sa_handler == SIG_DFL);
}

TEST_CASE("a closed terminal asks to stop, unless the process ignores that (nohup)") {
  std::signal(SIGHUP, SIG_DFL);
  {
    const StopSignals signals;
    std::raise(SIGHUP);
    CHECK(StopSignals::received() == SIGHUP);
  }
  std::signal(SIGHUP, SIG_IGN);
  const StopSignals signals;
  std::raise(SIGHUP);
  CHECK(StopSignals::received() == 0);
}

TEST_CASE("a process whose terminal is closed can still write, and stop") {
  int master = -1;
  const pid_t child = forkpty(&master, nullptr, nullptr, nullptr);
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGHUP, SIG_DFL);
    const StopSignals signals;
    bool written = write(STDOUT_FILENO, "r", 1) == 1;  // ready
    while (StopSignals::received() == 0) usleep(1000);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) written = write(stream, "x", 1) == 1 && written;
    _exit(written && StopSignals::received() == SIGHUP ? 0 : 1);
  }
  char ready = 0;
  CHECK(read(master, &ready, 1) == 1);
  close(master);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

#if defined(__x86_64__)
TEST_CASE("a stop signal does not overwrite memory below the stack pointer, which oneDNN sets to the heap") {
  constexpr auto kMark = std::byte{0x5A};
  std::vector<std::byte> heap(64 << 10, kMark);
  const StopSignals signals;
  long number = SYS_tgkill;
  // A system call with `rsp` in the middle of `heap`: the signal arrives before the next instruction.
  asm volatile("mov %%rsp, %%rbx\n\tmov %[stack], %%rsp\n\tsyscall\n\tmov %%rbx, %%rsp"
               : "+a"(number)
               : "D"(static_cast<long>(getpid())), "S"(syscall(SYS_gettid)),
                 "d"(static_cast<long>(SIGUSR1)), [stack] "r"(heap.data() + heap.size() / 2)
               : "rbx", "rcx", "r11", "memory", "cc");
  CHECK(number == 0);
  CHECK(StopSignals::received() == SIGUSR1);
  CHECK(std::ranges::all_of(heap, [&](std::byte byte) { return byte == kMark; }));
}
#endif
