
#include "convoke/os/clock.hpp"
#include "convoke/os/processors.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

namespace os = convoke::os;

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
