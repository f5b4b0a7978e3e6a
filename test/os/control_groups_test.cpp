#include "convoke/os/memory.hpp"

#include "support/catch.hpp"
#include "support/files.hpp"

using convoke::os::cpu_quota;

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
