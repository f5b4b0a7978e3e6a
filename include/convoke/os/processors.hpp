#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace convoke::os {

/// A logical processor by the system's number, and where it is in the host.
struct LogicalCpu {
  int cpu = 0;
  int core = 0;         ///< physical core: the first of its hardware threads
  int node = 0;         ///< NUMA node with memory that is nearest
  int package = 0;      ///< socket, counted from 0
  int speed = 0;        ///< of cores that differ: the larger, the faster; otherwise 0
  bool allowed = true;  ///< by the control group (cpuset)
};

/// Returns the processors of a host, by number; at least one. `topology`: a synthetic topology of hwloc, such
/// as "pack:2 numa:1 core:32 pu:2", or an XML file of hwloc; empty: this host. Throws Error naming the text.
std::vector<LogicalCpu> cpus_in(const std::string& topology);

/// Returns the online processors of this host, by number. The variable CONVOKE_TOPOLOGY replaces them, and
/// those that the other functions name or bind to, by a topology as above.
const std::vector<LogicalCpu>& online_cpus();

/// Returns the value of CONVOKE_TOPOLOGY; "" if the processors are those of this host.
std::string pretended_topology();

/// Returns the cores of `cpus` (numbers as in LogicalCpu::cpu), by their first hardware threads, sorted.
std::vector<int> cores_of(std::span<const int> cpus, std::span<const LogicalCpu> host);

/// Returns the numbers of the logical CPUs that the calling thread may use, sorted.
std::vector<int> allowed_cpus();

/// Binds all threads of this process, present and future, to `cpus`. Returns "" or the reason of a failure.
std::string allow_cpus(std::span<const int> cpus);

/// Binds the calling thread to `cpus`. Returns "" or the reason of a failure.
std::string allow_cpus_of_thread(std::span<const int> cpus);

/// Returns "AMD EPYC (family 25, model 17, stepping 1, 3.7 GHz)", without unknown facts; "" if unknown.
std::string cpu_model();

/// Returns the clock frequency of this core while it computes, in GHz: the best of five loops of 6 * `rounds`
/// cycles. The default takes some 10 ms.
double measure_clock_ghz(int rounds = 1 << 20);

/// A share of the cores from which on other programs are mentioned: the system itself takes a few hundredths.
inline constexpr double kNotableUse = 0.05;

/// Returns the time for which any program has kept the logical CPUs `cpus` of this host busy since its start,
/// in seconds, in steps of a hundredth; also that which a hypervisor gave to others. NaN if `statistics`, in
/// the form of proc_stat(5), does not have these CPUs.
double busy_seconds(std::span<const int> cpus, const std::filesystem::path& statistics = "/proc/stat");

/// Returns "0-3, 8" for 0, 1, 2, 3, 8.
std::string format_ranges(std::span<const int> sorted);

/// Returns 0, 1, 2, 3, 8 for "0-3,8"; skips everything that is not a number.
std::vector<int> parse_ranges(const std::string& text);

}  // namespace convoke::os
