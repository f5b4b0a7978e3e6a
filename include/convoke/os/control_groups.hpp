#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace convoke::os {

/// A control group of this process, or one above it, whose limits also apply.
struct ControlGroup {
  std::filesystem::path folder;  ///< in a container it may exist only outside
  bool unified = false;          ///< cgroup v2
};

/// Returns the groups that limit the resource of `controller` ("cpu", "memory"). `membership`:
/// /proc/self/cgroup; then the folder where control groups are mounted.
std::vector<ControlGroup> control_groups(const std::string& controller,
                                         const std::filesystem::path& membership = "/proc/self/cgroup",
                                         const std::filesystem::path& mount = "/sys/fs/cgroup");

/// Returns the number of CPUs that the process's control group and those above it grant (cgroup v1 and v2);
/// 0: no limit.
double cpu_quota(const std::filesystem::path& membership = "/proc/self/cgroup",
                 const std::filesystem::path& mount = "/sys/fs/cgroup");

}  // namespace convoke::os
