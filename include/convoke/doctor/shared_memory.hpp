#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// The memory that the ranks of a host can share.
struct SharedMemoryRoom {
  std::string host = {};
  int ranks = 1;
  std::uint64_t total = 0;           ///< bytes of /dev/shm
  std::string folder = {};           ///< of MPI's windows: /dev/shm, or one on a disk if /dev/shm is small
  std::uint64_t free = 0;            ///< bytes left there, without those of MPI itself
  std::string copies = {};           ///< MPI's way to copy within a host: "cma", "none", ...; "": unknown
  std::string reading_refused = {};  ///< why a rank cannot read its neighbour's memory (CMA); "" if it can
};

/// The shared memory of every host, at the root. `ask`: see gather_networks. Collective.
std::vector<SharedMemoryRoom> gather_shared_memory(const run::Machine& machine,
                                                   const mpi::Communicator& world, bool ask);

/// Finds too little shared memory. `window`: bytes of samples that the ranks of a host will share; 0: unknown
/// or none. Pure.
std::vector<Finding> judge_shared_memory(const std::vector<SharedMemoryRoom>& hosts, std::uint64_t window);

}  // namespace convoke::doctor
