#include "convoke/run/processors.hpp"

#include <atomic>
#include <thread>

#include "support/catch.hpp"

namespace run = convoke::run;

TEST_CASE("all threads of the process move, and those that it starts later") {
  const std::vector<int> before = run::allowed_cpus();
  const std::vector<int> one{before.back()};
  std::atomic<bool> moved = false;
  std::vector<int> seen;
  std::thread running([&] {
    while (!moved) std::this_thread::yield();
    seen = run::allowed_cpus();
  });
  CHECK(run::allow_cpus(one).empty());
  moved = true;
  running.join();
  CHECK(seen == one);
  std::vector<int> later;
  std::thread([&] { later = run::allowed_cpus(); }).join();
  CHECK(later == one);
  CHECK(run::allow_cpus(before).empty());
  CHECK(run::allowed_cpus() == before);
}

TEST_CASE("processors that are not there are refused with the reason") {
  const std::vector<int> before = run::allowed_cpus();
  CHECK(run::allow_cpus(std::vector<int>{100'000}) == "Invalid argument");
  CHECK(run::allowed_cpus() == before);
}
