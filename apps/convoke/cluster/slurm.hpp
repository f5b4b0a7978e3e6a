#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "convoke/slurm/job_set.hpp"

namespace convoke::app {

struct SlurmOptions : RecipeOptions {
  std::string kind;
  slurm::Layout layout;
  slurm::JobOptions job;
  std::string time, launcher = "mpirun", bind = "core", program;
  std::string source, prepare_options;
  std::vector<std::string> sweep;
  std::int64_t at_once = 0;
  std::string after, output;
  bool chain = false, dry_run = false, submit = false;
  std::string study_folder;  ///< the folder of a study; empty: a new one each time
  bool resume = false;       ///< make only the runs that are missing in that folder
};

/// Adds the options that all jobs have: nodes, queue, launcher.
void add_queue_options(CLI::App& parser, SlurmOptions& options);

/// Writes, prints or submits the scripts of Slurm jobs for a recipe.
int slurm(const SlurmOptions& options);

}  // namespace convoke::app
