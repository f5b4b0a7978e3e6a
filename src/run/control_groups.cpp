#include "run/control_groups.hpp"

#include <fmt/format.h>

#include <fstream>

namespace convoke::run {

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

}  // namespace convoke::run
