#include "convoke/os/control_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace convoke::os {
namespace {

// Reads "200000 100000" (v2: cpu.max) or the two files of v1; 0 if there is no limit.
double quota_of(const std::filesystem::path& group, bool unified) {
  double quota = 0, period = 0;
  if (unified) {
    std::ifstream(group / "cpu.max") >> quota >> period;  // "max 100000" leaves 0
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota;  // -1: no limit
    std::ifstream(group / "cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace

std::vector<ControlGroup> control_groups(const std::string& controller,
                                         const std::filesystem::path& membership,
                                         const std::filesystem::path& mount) {
  std::vector<ControlGroup> list;
  std::ifstream groups(membership);
  for (std::string line; std::getline(groups, line);) {  // "0::/job" (v2) or "1:cpu,cpuacct:/job" (v1)
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(fmt::format(",{},", controller)) == std::string::npos) continue;
    for (std::filesystem::path path = line.substr(second + 1);; path = path.parent_path()) {
      list.push_back({(unified ? mount : mount / controller) / path.relative_path(), unified});
      if (!path.has_relative_path()) break;
    }
  }
  return list;
}

double cpu_quota(const std::filesystem::path& membership, const std::filesystem::path& mount) {
  double lowest = 0;
  for (const ControlGroup& group : control_groups("cpu", membership, mount)) {
    const double quota = quota_of(group.folder, group.unified);
    if (quota > 0) lowest = lowest > 0 ? std::min(lowest, quota) : quota;
  }
  return lowest;
}

}  // namespace convoke::os
