#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// What the ranks of a host have to share memory with.
struct SharedMemoryRoom {
  std::string host = {};
  int ranks = 1;
  std::uint64_t total = 0;  ///< bytes of /dev/shm
  std::string folder = {};  ///< that MPI puts windows into: /dev/shm, or one on a disk if that is small
  std::uint64_t free = 0;   ///< bytes left there now that MPI has taken its own
  std::string copies = {};  ///< how MPI is set to copy within a host: "cma", "none", ...; "": unknown
  std::string reading_refused = {};  ///< why a rank may not read its neighbour's memory (CMA); "" if it may
};

/// Of every host, at the root. `ask` as in gather_networks. Collective.
std::vector<SharedMemoryRoom> gather_shared_memory(const run::Machine& machine,
                                                   const mpi::Communicator& world, bool ask);

/// `window`: bytes of samples that the ranks of a host are going to share; 0: unknown or none. Pure.
std::vector<Finding> judge_shared_memory(const std::vector<SharedMemoryRoom>& hosts, std::uint64_t window);

}  // namespace convoke::doctor
