#pragma once
#include <cstdint>

#include "convoke/engine/memory_need.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

/// What one checkpoint holds, in bytes.
std::uint64_t checkpoint_bytes(const Job& job);

/// Sees to it that all ranks of a node together find room for what training takes, before the first step.
/// `samples`: of training, per epoch, of the member that `group` trains. Returns the resident set that this
/// rank is going to have, in bytes. Collective over `world`, of which `group` is a part. Throws Error on all
/// ranks, with the host, what is needed for what, what there is (job.memory_bytes, or what the node has
/// left), and what would fit.
std::uint64_t require_memory(const Job& job, std::int64_t samples, bool validates,
                             const mpi::Communicator& group, const mpi::Communicator& world);

}  // namespace convoke::train
