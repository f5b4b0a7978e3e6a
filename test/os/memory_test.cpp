#include "convoke/os/memory.hpp"

#include <sys/resource.h>

#include "support/catch.hpp"
#include "support/files.hpp"

using convoke::os::available_bytes;
using convoke::os::cpu_quota;

TEST_CASE("available memory is the system's, or the rest of the tightest control group") {
  const TemporaryFolder folder;
  const auto available = [&](const char* membership, const char* mount) {
    return available_bytes(folder / "meminfo", folder / membership, folder / mount);
  };
  write_file(folder / "meminfo",
             "MemTotal:       8000 kB\nMemFree:        1000 kB\nMemAvailable:   4000 kB\n");
  CHECK(available("none", "none") == 4000 * 1024);

  write_file(folder / "v2", "0::/job/step\n");
  write_file(folder / "unified/job/memory.max", "3000000\n");
  write_file(folder / "unified/job/memory.current", "1500000\n");
  write_file(folder / "unified/job/memory.stat",
             "anon 1000\nfile 600000\ninactive_file 500000\nactive_file 100000\n");
  write_file(folder / "unified/job/step/memory.max", "max\n");
  write_file(folder / "unified/job/step/memory.current", "900000\n");
  CHECK(available("v2", "unified") == 3000000 - 1500000 + 500000);
  write_file(folder / "unified/job/step/memory.max", "1000000\n");
  CHECK(available("v2", "unified") == 1000000 - 900000);
  write_file(folder / "unified/job/step/memory.current", "1100000\n");
  CHECK(available("v2", "unified") == 0);

  write_file(folder / "v1", "4:memory:/job\n3:cpu,cpuacct:/elsewhere\n");
  write_file(folder / "old/memory/memory.limit_in_bytes",
             "9223372036854771712\n");  // v1's value for no limit
  write_file(folder / "old/memory/memory.usage_in_bytes", "5000000\n");
  CHECK(available("v1", "old") == 4000 * 1024);
  write_file(folder / "old/memory/job/memory.limit_in_bytes", "2000000\n");
  write_file(folder / "old/memory/job/memory.usage_in_bytes", "1800000\n");
  write_file(folder / "old/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 300000\n");
  CHECK(available("v1", "old") == 2000000 - 1800000 + 300000);
}

TEST_CASE("ulimit -v limits available memory") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  const std::uint64_t all = available_bytes();
  std::uint64_t taken = 0;  // KiB of address space
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word && word != "VmSize:";) {
  }
  status >> taken;
  const rlim_t room = std::min<rlim_t>(64 << 20, all / 2);
  const rlimit limited{taken * 1024 + room, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_AS, &limited) == 0);
  const std::uint64_t left = available_bytes();
  ::setrlimit(RLIMIT_AS, &before);
  CHECK(left <= room);
  CHECK(left + (4 << 20) >= room);
}

TEST_CASE("the resident set grows by the memory that is written") {
  const std::uint64_t before = convoke::os::resident_bytes();
  CHECK(before > 1 << 20);
  const std::vector<char> written(64 << 20, 'x');
  const std::uint64_t after = convoke::os::resident_bytes();
  CHECK(after >= before + (60 << 20));
  CHECK(after <= before + (70 << 20));
  CHECK(written[123] == 'x');
  CHECK(available_bytes() > 0);
}

TEST_CASE("the CPU quota is the lowest of the control group and those above it") {
  const TemporaryFolder root;
  write_file(root / "v2", "0::/job/step\n");
  write_file(root / "unified/job/cpu.max", "150000 100000\n");
  write_file(root / "unified/job/step/cpu.max", "max 100000\n");
  CHECK(cpu_quota(root / "v2", root / "unified") == 1.5);
  write_file(root / "unified/job/step/cpu.max", "50000 100000\n");
  CHECK(cpu_quota(root / "v2", root / "unified") == 0.5);

  write_file(root / "v1", "4:memory:/elsewhere\n3:cpu,cpuacct:/job\n");
  write_file(root / "old/cpu/cpu.cfs_quota_us", "-1\n");
  write_file(root / "old/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(cpu_quota(root / "v1", root / "old") == 0);
  write_file(root / "old/cpu/job/cpu.cfs_quota_us", "300000\n");
  write_file(root / "old/cpu/job/cpu.cfs_period_us", "100000\n");
  CHECK(cpu_quota(root / "v1", root / "old") == 3);
  CHECK(cpu_quota(root / "missing", root.path()) == 0);
}
