#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace convoke::run {

/// A control group that the process is in, or one above it, whose limits hold too.
struct ControlGroup {
  std::filesystem::path folder;  ///< inside a container it may only exist outside
  bool unified = false;          ///< cgroup v2
};

/// Those that limit what `controller` ("cpu", "memory") is for, from `membership` (/proc/self/cgroup) and
/// where control groups are mounted.
std::vector<ControlGroup> control_groups(const std::string& controller,
                                         const std::filesystem::path& membership,
                                         const std::filesystem::path& mount);

}  // namespace convoke::run
