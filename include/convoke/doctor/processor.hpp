#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// The processor of a rank, and its clock. Frequencies in GHz; 0: unknown.
struct Processor {
  std::string host = {};
  std::string instruction_set = {};  ///< that oneDNN uses
  std::string model = {};
  std::string governor = {}, driver = {};  ///< of the clock; "" if unknown, as in virtual machines
  double largest_ghz = 0;                  ///< as the system states
  double measured_ghz = 0;                 ///< of one busy core
};

/// The processor of this rank. `measure`: takes about 10 ms. `system`: the folder in which the kernel
/// describes processors.
Processor probe_processor(bool measure, const std::filesystem::path& system = "/sys/devices/system");

/// The processors of all ranks, at the root; only the first rank of a host measures. Collective.
std::vector<Processor> gather_processors(const run::Machine& machine, const mpi::Communicator& world,
                                         bool measure);

/// Finds different instruction sets, clocks that are kept low, and hosts that are slower than others. Pure.
std::vector<Finding> check_processors(const std::vector<Processor>& ranks);

/// The processors of the hosts, and those that every rank may use.
struct Topology {
  std::map<int, std::vector<os::LogicalCpu>> hosts;  ///< keyed by the node of run::Placement
  std::vector<std::vector<int>> cpus;                ///< logical CPUs by rank
};

/// The topology of all hosts, at the root; empty on other ranks. Collective.
Topology gather_topology(const run::Machine& machine, const mpi::Communicator& world);

/// Finds hardware threads of one core that are used like cores. They share its arithmetic units, which one
/// worker thread keeps busy. Pure.
std::vector<Finding> check_smt(const run::Machine& machine, const Topology& topology, int threads);

/// Finds ranks whose cores belong to several NUMA nodes. Pure.
std::vector<Finding> check_numa(const run::Machine& machine, const Topology& topology);

/// Finds slow cores of a processor with two kinds of cores that ranks use. Pure.
std::vector<Finding> check_speeds(const run::Machine& machine, const Topology& topology);

/// A drawing of the binding: for each host, a row of its cores for each rank, with `#` where the rank may run
/// and `|` between NUMA nodes, its threads, and on which nodes they run. Pure.
std::string binding_map(const run::Machine& machine, const Topology& topology, int threads);

}  // namespace convoke::doctor
