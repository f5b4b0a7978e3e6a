#pragma once
#include <cstdint>

#include "convoke/engine/memory_need.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// Returns the size of one checkpoint in bytes.
std::uint64_t checkpoint_bytes(const Job& job);

/// Checks before the first step that the memory of each node is enough for all of its ranks. `samples`:
/// training samples per epoch of the member that `group` trains. `unread`: bytes that the ranks of a node
/// will share as samples, which are not in memory yet. Returns the predicted resident set of this rank in
/// bytes. Collective over `world`, of which `group` is a part. Throws Error on all ranks with the host, the
/// memory needed by each part, the memory available (job.memory.node_bytes, or the free memory of the node),
/// and settings that would fit.
std::uint64_t require_memory(const Job& job, std::int64_t samples, bool validates,
                             const mpi::Communicator& group, const mpi::Communicator& world,
                             std::uint64_t unread);

}  // namespace convoke::train
