#include "convoke/os/memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "convoke/os/control_groups.hpp"

namespace convoke::os {
namespace {

namespace fs = std::filesystem;

// Returns the number after `key` in a file of lines "key number ...".
std::optional<std::uint64_t> count_in(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    std::uint64_t value = 0;
    if (word == key && in >> value) return value;
    in.clear();
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

std::optional<std::uint64_t> count_in(const fs::path& file) {
  std::uint64_t value = 0;
  if (std::ifstream(file) >> value) return value;  // "max" means no limit
  return std::nullopt;
}

// Returns limit - (usage - pages that can be dropped); none if there is no limit.
std::optional<std::uint64_t> left_in(const fs::path& group, bool unified) {
  const auto limit = count_in(group / (unified ? "memory.max" : "memory.limit_in_bytes"));
  const auto usage = count_in(group / (unified ? "memory.current" : "memory.usage_in_bytes"));
  if (!limit || !usage) return std::nullopt;
  const std::uint64_t cache =
      count_in(group / "memory.stat", unified ? "inactive_file" : "total_inactive_file").value_or(0);
  const std::uint64_t held = *usage - std::min(*usage, cache);
  return *limit - std::min(*limit, held);
}

// Returns the address space left by `ulimit -v`; none if there is no limit.
std::optional<std::uint64_t> address_space_left() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const std::uint64_t taken = count_in("/proc/self/status", "VmSize:").value_or(0) * 1024;
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, taken);
}

}  // namespace

std::uint64_t resident_bytes() { return count_in("/proc/self/status", "VmRSS:").value_or(0) * 1024; }
std::uint64_t peak_resident_bytes() { return count_in("/proc/self/status", "VmHWM:").value_or(0) * 1024; }

std::uint64_t available_bytes(const fs::path& meminfo, const fs::path& membership, const fs::path& mount) {
  constexpr std::uint64_t kUnknown = std::uint64_t{1} << 62;  // also exact as a double
  const auto kib = count_in(meminfo, "MemAvailable:");
  std::uint64_t least = kib ? *kib * 1024 : kUnknown;
  for (const ControlGroup& group : control_groups("memory", membership, mount)) {
    least = std::min(least, left_in(group.folder, group.unified).value_or(kUnknown));
  }
  return std::min(least, address_space_left().value_or(kUnknown));
}

}  // namespace convoke::os
