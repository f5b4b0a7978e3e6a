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

}  // namespace convoke::run
