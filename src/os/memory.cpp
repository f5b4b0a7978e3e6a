#include "convoke/os/memory.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <string>

#include "convoke/os/processors.hpp"

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

void map_large_blocks() {
#ifdef M_MMAP_THRESHOLD
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

void prefer_huge_pages(std::span<std::byte> memory) {
#ifdef MADV_HUGEPAGE
  if (memory.size() >= kHugeFrom) ::madvise(memory.data(), memory.size(), MADV_HUGEPAGE);
#endif
}

UntouchedMemory::UntouchedMemory(std::size_t bytes) {
  void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  bytes_ = {static_cast<std::byte*>(address), bytes};
  prefer_huge_pages(bytes_);
}
UntouchedMemory::~UntouchedMemory() { ::munmap(bytes_.data(), bytes_.size()); }

bool take_pages(std::span<std::byte> mapping) {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers lack
  return ::madvise(mapping.data(), mapping.size(), kPopulateWrite) == 0 || errno == EINVAL;
}

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
  if (!pretended_topology().empty()) return 0;  // the quota is one of this host
  double lowest = 0;
  for (const ControlGroup& group : control_groups("cpu", membership, mount)) {
    const double quota = quota_of(group.folder, group.unified);
    if (quota > 0) lowest = lowest > 0 ? std::min(lowest, quota) : quota;
  }
  return lowest;
}

}  // namespace convoke::os
