#pragma once
#include <cstdint>
#include <filesystem>

namespace convoke::os {

/// Resident set of this process, in bytes (VmRSS), memory that it shares with others included.
std::uint64_t resident_bytes();
/// The largest that it was so far (VmHWM).
std::uint64_t peak_resident_bytes();

/// What processes of this node may still take, in bytes: what the system has left without swapping
/// (MemAvailable), or less where the process's control group or one above it allows less (cgroup v1 and v2;
/// pages that only cache files count as free), or its address space is limited (ulimit -v).
std::uint64_t available_bytes(const std::filesystem::path& meminfo = "/proc/meminfo",
                              const std::filesystem::path& membership = "/proc/self/cgroup",
                              const std::filesystem::path& mount = "/sys/fs/cgroup");

}  // namespace convoke::os
