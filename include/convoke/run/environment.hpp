#pragma once
#include <string>

#include "convoke/core/settings.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"
#include "convoke/run/run_folder.hpp"

namespace convoke::run {

/// "0.1.0", and the output of `git describe` for the source at build time; "" if built outside of git.
std::string convoke_version();
std::string build_description();

/// "Release": optimized, without assertions, as times should be measured; or another type of CMake,
/// "RelWithDebInfo, with assertions".
std::string build_type();

/// Returns the content of environment.json: time, command, versions, machine, and the cores to which each
/// rank is bound. The keys are in docs/formats.md. `threads`: workers of this rank. Call it on one rank.
Settings environment(const Machine& machine, int threads);

/// Writes recipe.toml (the resolved recipe) and environment.json before the work, so that a failed run can be
/// explained. Collective over `world`. Throws Error on all ranks if the files cannot be written.
void describe_run(const RunFolder& folder, const std::string& recipe, const Machine& machine, int threads,
                  const mpi::Communicator& world);

// Ranks of one job that were started differently wait for each other for ever, or train something that nobody
// asked for. So they compare what must be the same.

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
