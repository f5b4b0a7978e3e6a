#pragma once
#include <filesystem>
#include <map>
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

/// A worker thread among those of its rank and those of its host.
struct WorkerPlace {
  int worker = 0, workers = 1;         ///< of this rank
  int first = 0, workers_of_host = 1;  ///< of this rank's workers among those of all ranks of the host
};

/// Returns those of a rank's `cpus` that belong to the NUMA node of one of its workers. The nodes have
/// workers in proportion to their cores, neighboring workers in one node. Ranks that share their cores
/// divide them by their order. Pure.
std::vector<int> cpus_of_worker(const WorkerPlace& place, std::span<const int> cpus,
                                std::span<const LogicalCpu> host);

/// Returns the number of a rank's workers in each NUMA node, as above; `rank`: any of its workers. Pure.
std::map<int, int> workers_by_node(WorkerPlace rank, std::span<const int> cpus,
                                   std::span<const LogicalCpu> host);

/// Returns the NUMA node of most of a rank's workers; of two with as many, the first. Pure.
int numa_node_of_rank(const WorkerPlace& rank, std::span<const int> cpus, std::span<const LogicalCpu> host);

/// Binds the calling thread to its NUMA node, as above, if the CPUs that it may use belong to several. The
/// system chooses the core within the node, since other programs may use some of them.
void stay_in_numa_node(const WorkerPlace& place);

}  // namespace convoke::os
