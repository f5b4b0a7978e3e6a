#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace convoke::os {

/// A control group that the process is in, or one above it, whose limits hold too.
struct ControlGroup {
  std::filesystem::path folder;  ///< inside a container it may only exist outside
  bool unified = false;          ///< cgroup v2
};

/// Those that limit what `controller` ("cpu", "memory") is for, from `membership` (/proc/self/cgroup) and
/// where control groups are mounted.
std::vector<ControlGroup> control_groups(const std::string& controller,
                                         const std::filesystem::path& membership = "/proc/self/cgroup",
                                         const std::filesystem::path& mount = "/sys/fs/cgroup");

/// CPUs that the process's control group and those above it grant (cgroup v1 and v2); 0: no limit.
double cpu_quota(const std::filesystem::path& membership = "/proc/self/cgroup",
                 const std::filesystem::path& mount = "/sys/fs/cgroup");

}  // namespace convoke::os
