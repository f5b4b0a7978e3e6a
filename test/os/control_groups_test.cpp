#include "convoke/os/memory.hpp"

#include <unistd.h>

#include "support/catch.hpp"

using convoke::os::cpu_quota;
namespace fs = std::filesystem;

TEST_CASE("the CPU quota is the lowest of the control group and those above it") {
  const fs::path root = fs::temp_directory_path() / ("convoke-machine-test-" + std::to_string(getpid()));
  const auto write = [&](const fs::path& name, const std::string& text) {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  };
  write("v2", "0::/job/step\n");
  write("unified/job/cpu.max", "150000 100000\n");
  write("unified/job/step/cpu.max", "max 100000\n");
  CHECK(cpu_quota(root / "v2", root / "unified") == 1.5);
  write("unified/job/step/cpu.max", "50000 100000\n");
  CHECK(cpu_quota(root / "v2", root / "unified") == 0.5);

  write("v1", "4:memory:/elsewhere\n3:cpu,cpuacct:/job\n");
  write("old/cpu/cpu.cfs_quota_us", "-1\n");
  write("old/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(cpu_quota(root / "v1", root / "old") == 0);
  write("old/cpu/job/cpu.cfs_quota_us", "300000\n");
  write("old/cpu/job/cpu.cfs_period_us", "100000\n");
  CHECK(cpu_quota(root / "v1", root / "old") == 3);
  CHECK(cpu_quota(root / "missing", root) == 0);
  fs::remove_all(root);
}
