#pragma once
#include <string>

#include "convoke/core/settings.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"
#include "convoke/run/run_folder.hpp"

namespace convoke::run {

/// "0.1.0", and what `git describe` said of the source when this was built; "" if it was built elsewhere.
std::string convoke_version();
std::string build_description();

/// environment.json: when, by which command, with what versions, on which machine, with which ranks bound to
/// which cores. Keys in docs/formats.md. `threads`: workers of this rank. Call it on one rank.
Settings environment(const Machine& machine, int threads);

/// Writes recipe.toml, the resolved recipe as it is carried out, and environment.json: before the work, so
/// that a run that fails can be explained. Collective over `world`. Throws Error on all ranks if that cannot
/// be.
void describe_run(const RunFolder& folder, const std::string& recipe, const Machine& machine, int threads,
                  const mpi::Communicator& world);

}  // namespace convoke::run
