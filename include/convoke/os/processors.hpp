#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace convoke::os {

/// A processor as the system numbers them, and what it is a part of.
struct LogicalCpu {
  int cpu = 0;
  int core = 0;  ///< physical, by the first of its hardware threads
  int node = 0;  ///< of memory (NUMA)
};

/// Those of this host that are online, by their numbers; at least one.
std::vector<LogicalCpu> online_cpus(const std::filesystem::path& system = "/sys/devices/system");

/// Cores of `cpus` (numbers as in LogicalCpu::cpu), by their first hardware threads, sorted.
std::vector<int> cores_of(std::span<const int> cpus, std::span<const LogicalCpu> host);

/// Where the calling thread may run: numbers of logical CPUs, sorted.
std::vector<int> allowed_cpus();

/// Lets every thread that this process has run on `cpus`, and those that it will start. Returns "" or why
/// not.
std::string allow_cpus(std::span<const int> cpus);

/// "Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz"; "" if the system does not tell.
std::string cpu_model();

/// "0-3, 8" of 0, 1, 2, 3, 8.
std::string format_ranges(std::span<const int> sorted);

/// 0, 1, 2, 3, 8 of "0-3,8"; what is no number is passed over.
std::vector<int> parse_ranges(const std::string& text);

}  // namespace convoke::os
