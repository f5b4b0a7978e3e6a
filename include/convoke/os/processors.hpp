#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace convoke::os {

/// A logical processor by the system's number, and its core and NUMA node.
struct LogicalCpu {
  int cpu = 0;
  int core = 0;  ///< physical core: the first of its hardware threads
  int node = 0;  ///< NUMA node
};

/// Returns the online processors of this host, by number; at least one.
std::vector<LogicalCpu> online_cpus(const std::filesystem::path& system = "/sys/devices/system");

/// Returns the cores of `cpus` (numbers as in LogicalCpu::cpu), by their first hardware threads, sorted.
std::vector<int> cores_of(std::span<const int> cpus, std::span<const LogicalCpu> host);

/// Returns the numbers of the logical CPUs that the calling thread may use, sorted.
std::vector<int> allowed_cpus();

/// Binds all threads of this process, present and future, to `cpus`. Returns "" or the reason of a failure.
std::string allow_cpus(std::span<const int> cpus);

/// Returns "Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz"; "" if unknown.
std::string cpu_model();

/// Returns the clock frequency of this core while it computes, in GHz: the best of five loops of 6 * `rounds`
/// cycles. The default takes some 10 ms.
double measure_clock_ghz(int rounds = 1 << 20);

/// Returns "0-3, 8" for 0, 1, 2, 3, 8.
std::string format_ranges(std::span<const int> sorted);

/// Returns 0, 1, 2, 3, 8 for "0-3,8"; skips everything that is not a number.
std::vector<int> parse_ranges(const std::string& text);

}  // namespace convoke::os
