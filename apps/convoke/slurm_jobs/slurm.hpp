#pragma once
#include <CLI/CLI.hpp>

#include "slurm_jobs/options.hpp"

namespace convoke::app {

void add_slurm(CLI::App& parser, SlurmOptions& options);

/// Writes, shows or submits the scripts of Slurm jobs for a recipe.
int slurm(const SlurmOptions& options);

}  // namespace convoke::app
