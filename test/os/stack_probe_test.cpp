#include "convoke/os/stack_probe.hpp"

#include <unistd.h>

#include "convoke/os/stop_signals.hpp"
#include "support/catch.hpp"

using namespace convoke::os;
using namespace std::chrono_literals;

TEST_CASE("another thread sees the calls of the thread that made the probe, also on the stack of signals") {
  for (const bool own_stack : {false, true}) {
    std::optional<StopSignals> signals;
    if (own_stack) signals.emplace();
    const StackProbe probe;
    std::vector<std::string> calls;
    std::atomic<bool> done = false;
    std::thread watcher([&] {
      BlockedSignals blocked;
      std::this_thread::sleep_for(20ms);
      calls = probe.calls(1s);
      done = true;
    });
    while (!done) ::usleep(1000);
    watcher.join();
    CAPTURE(calls);
    REQUIRE(calls.size() > 2);
    // The signal interrupted the sleep, in the C library, which may have calls without names below it.
    CHECK(std::any_of(calls.begin(), calls.begin() + 3,
                      [](const std::string& call) { return call.find("sleep") != std::string::npos; }));
    CHECK(std::ranges::any_of(
        calls, [](const std::string& call) { return call.find("__libc_start_main") != std::string::npos; }));
  }
}

TEST_CASE("a thread that has blocked the signal has no calls, and the probe does not wait for ever") {
  const StackProbe probe;
  const BlockedSignals blocked;
  std::thread watcher([&] { CHECK(probe.calls(20ms).empty()); });
  watcher.join();
}
