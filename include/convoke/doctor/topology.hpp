#pragma once
#include <map>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// Processors of the hosts, and which of them every rank may use.
struct Topology {
  std::map<int, std::vector<os::LogicalCpu>> hosts;  ///< by the node of run::Placement
  std::vector<std::vector<int>> cpus;                ///< logical CPUs by rank
};

/// At the root; empty elsewhere. Collective.
Topology gather_topology(const run::Machine& machine, const mpi::Communicator& world);

/// Hardware threads of one core that are used as if they were cores: they share its arithmetic units, which
/// one thread of a kernel of ours keeps busy. Pure.
std::vector<Finding> judge_smt(const run::Machine& machine, const Topology& topology, int threads);

/// Ranks whose cores belong to several nodes of memory. Pure.
std::vector<Finding> judge_numa(const run::Machine& machine, const Topology& topology);

/// Drawn in text: for each host a row of its cores for each rank, `#` where it may run, `|` between nodes of
/// memory. Pure.
std::string binding_map(const run::Machine& machine, const Topology& topology, int threads);

}  // namespace convoke::doctor
