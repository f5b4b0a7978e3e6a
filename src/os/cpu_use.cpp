#include "convoke/os/cpu_use.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace convoke::os {

double busy_seconds(std::span<const int> cpus, const std::filesystem::path& statistics) {
  std::ifstream file(statistics);
  double ticks = 0;
  std::size_t found = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name;
    // user and nice include the time of guests.
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0,
           stolen = 0;
    fields >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen;
    if (!fields || !std::ranges::any_of(cpus, [&](int cpu) { return name == "cpu" + std::to_string(cpu); }))
      continue;
    ticks += user + nice + system + interrupts + soft_interrupts + stolen;
    ++found;
  }
  if (found == 0 || found != cpus.size()) return std::numeric_limits<double>::quiet_NaN();
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace convoke::os
