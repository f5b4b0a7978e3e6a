#include "convoke/os/processors.hpp"

#include "convoke/os/clock.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

namespace os = convoke::os;

TEST_CASE("all threads of the process move, also those started later") {
  const std::vector<int> before = os::allowed_cpus();
  const std::vector<int> one{before.back()};
  std::atomic<bool> moved = false;
  std::vector<int> seen;
  std::thread running([&] {
    while (!moved) std::this_thread::yield();
    seen = os::allowed_cpus();
  });
  CHECK(os::allow_cpus(one).empty());
  moved = true;
  running.join();
  CHECK(seen == one);
  std::vector<int> later;
  std::thread([&] { later = os::allowed_cpus(); }).join();
  CHECK(later == one);
  CHECK(os::allow_cpus(before).empty());
  CHECK(os::allowed_cpus() == before);
}

// Virtual machines call processors of several generations "AMD EPYC"; the kernel's numbers tell them apart.
TEST_CASE("the name of the processor has the numbers that the kernel has") {
  std::map<std::string, std::string> first;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) first[line.substr(0, line.find_first_of("\t:"))] = line.substr(colon + 2);
  }
  if (!first.contains("cpu family") || os::cpu_model().empty()) return;  // not x86
  CHECK_THAT(os::cpu_model(),
             Contains(first.at("model name") + " (family " + first.at("cpu family") + ", model " +
                      first.at("model") + ", stepping " + first.at("stepping")) &&
                 Contains(" GHz)"));
}

TEST_CASE("one thread moves alone") {
  const std::vector<int> before = os::allowed_cpus();
  std::vector<int> moved;
  std::thread([&] {
    CHECK(os::allow_cpus_of_thread(std::vector<int>{before.back()}).empty());
    moved = os::allowed_cpus();
  }).join();
  CHECK(moved == std::vector<int>{before.back()});
  CHECK(os::allowed_cpus() == before);
}

TEST_CASE("missing processors are refused with the reason") {
  const std::vector<int> before = os::allowed_cpus();
  CHECK(os::allow_cpus(std::vector<int>{100'000}) == "Invalid argument");
  CHECK(os::allowed_cpus() == before);
}

TEST_CASE("core lists are written as ranges") {
  CHECK(os::format_ranges(std::vector<int>{0, 1, 2, 3, 8}) == "0-3, 8");
  CHECK(os::format_ranges(std::vector<int>{5}) == "5");
  CHECK(os::format_ranges(std::vector<int>{}).empty());
}

TEST_CASE(
    "the busy time of processors is what proc_stat(5) calls user, nice, system, irq, softirq and steal") {
  const TemporaryFolder folder;
  const auto file = folder / "stat";
  std::ofstream(file) << "cpu  9 9 9 9 9 9 9 9 9 9\n"
                         "cpu0 100 20 30 4000 500 6 7 8 90 10\n"
                         "cpu1 1000 0 0 0 0 0 0 0 0 0\n"
                         "cpu10 1 1 1 1 1 1 1 1 1 1\nintr 5\n";
  const std::vector<int> first{0}, both{0, 1}, missing{0, 2};
  CHECK(os::busy_seconds(first, file) == Approx(1.71));
  CHECK(os::busy_seconds(both, file) == Approx(11.71));
  CHECK(std::isnan(os::busy_seconds(missing, file)));
  CHECK(std::isnan(os::busy_seconds(first, folder / "none")));
}

TEST_CASE("a computing program is counted by the system of this machine") {
  const std::vector<int> cpus = os::allowed_cpus();
  const double before = os::busy_seconds(cpus), used = os::process_cpu_seconds();
  while (os::process_cpu_seconds() < used + 0.1) {
  }
  CHECK(os::busy_seconds(cpus) - before > 0.05);
}
