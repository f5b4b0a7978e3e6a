#pragma once
#include <string>

#include "convoke/core/settings.hpp"
#include "convoke/mpi/communicator.hpp"

/// Ranks of one job may have been started differently. Then they would wait for each other for ever, or train
/// a model that the user did not ask for. These functions compare what must be equal on all ranks.
namespace convoke::run {

/// Throws Error on all ranks if a fact of a rank, such as {"dataset", "crc32:0bad1dea"}, differs from that of
/// rank 0. Facts may be tables of facts. The message names the first such rank, its host, the fact and both
/// values. Collective.
void require_equal(const mpi::Communicator& world, const Settings& facts, const std::string& hint);

/// Requires one build of Convoke with one MPI library on all ranks. Collective.
void require_equal_programs(const mpi::Communicator& world);

/// Requires one oneDNN with one instruction set on all ranks, because kernels of others round differently.
/// Collective.
void require_equal_arithmetic(const mpi::Communicator& world);

}  // namespace convoke::run
