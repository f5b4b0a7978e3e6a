#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// How the ranks of a host share memory, and exchange messages through it.
struct SharedMemorySpace {
  std::string host = {};
  int ranks = 1;
  std::uint64_t total = 0;    ///< bytes of /dev/shm
  std::string folder = {};    ///< of Open MPI's segments: /dev/shm, or one on a disk if that is small
  std::string unshared = {};  ///< why the ranks cannot share memory (mpi::SharedMemory); "" if they can
  std::string copies = {};    ///< MPI's way to copy within a host: "cma", "none", ...; "": unknown
  std::string reading_refused = {};  ///< why a rank cannot read its neighbor's memory (CMA); "" if it can
};

/// The shared memory of every host, at the root. `ask`: see gather_networks. Collective.
std::vector<SharedMemorySpace> gather_shared_memory(const run::Machine& machine,
                                                    const mpi::Communicator& world, bool ask);

/// Finds too little space for messages, and ranks that cannot share memory. Pure.
std::vector<Finding> check_shared_memory(const std::vector<SharedMemorySpace>& hosts);

}  // namespace convoke::doctor
