#include "convoke/os/waiting.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "convoke/os/clock.hpp"
#include "support/catch.hpp"

using convoke::os::EventCount;

TEST_CASE("threads that wait for an event see what was written before it") {
  EventCount events;
  std::atomic<int> turn = 0;
  constexpr int kThreads = 4, kTurns = 2000;
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int mine = thread; mine < kTurns; mine += kThreads) {
          events.await([&] { return turn.load(std::memory_order_acquire) >= mine; });
          if (turn.load() != mine) ++wrong;
          turn.store(mine + 1, std::memory_order_release);
          events.advance();
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(turn == kTurns);
  CHECK(events.count() == kTurns);
}

TEST_CASE("a process that waits for another one sleeps, and takes no processor") {
  void* const memory =
      ::mmap(nullptr, sizeof(EventCount), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto& events = *static_cast<EventCount*>(memory);  // zeros are a new one
  const pid_t child = ::fork();
  if (child == 0) {
    ::usleep(400'000);
    events.advance();
    ::_exit(0);
  }
  const double before = convoke::os::thread_cpu_seconds();
  events.await([&] { return events.count() > 0; });
  CHECK(convoke::os::thread_cpu_seconds() - before < 0.1);
  CHECK(events.count() == 1);
  ::waitpid(child, nullptr, 0);
  ::munmap(memory, sizeof(EventCount));
}

TEST_CASE("a long wait that has to poll takes little of its core") {
  const convoke::os::Stopwatch watch;
  const double before = convoke::os::thread_cpu_seconds();
  int polls = 0;
  convoke::os::poll_until([&] { return ++polls > 1 && watch.seconds() > 0.4; });
  CHECK(convoke::os::thread_cpu_seconds() - before < 0.1);
  CHECK(polls > 100);
}
