#pragma once
#include "convoke/mpi/communicator.hpp"
#include "convoke/os/worker_place.hpp"

namespace convoke::engine {

struct EngineOptions;

/// Which ranks share one copy of the model (ModelMemory). The others exchange with them through MPI.
enum class ModelSharing {
  kNone,  ///< each rank has a copy
  kNuma,  ///< those of a NUMA node: each of them counts as a node of the cluster
  kHost,  ///< those of a host
};

/// A rank among those that share a copy of the model with it, and its workers among those of its host.
struct ModelRanks {
  mpi::Communicator sharing;
  os::WorkerPlace place;
};

/// Returns the ranks of `group` that share a copy of the model with this one. With kNuma this is a pure
/// function of the host's topology, of the cores that its ranks may use and of their numbers of workers
/// (os::numa_node_of_rank): the first rank of a NUMA node owns the copy, which it touches first; the sums of
/// a worker are touched first by this worker. Collective over `group`.
ModelRanks model_ranks(const EngineOptions& options, const mpi::Communicator& group);

}  // namespace convoke::engine
