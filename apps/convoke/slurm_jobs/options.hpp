#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/slurm/plan.hpp"
#include "recipe_options.hpp"

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
  std::string study_folder;  ///< where a study is kept; empty: a new folder each time
  bool resume = false;       ///< of a study: what is missing in that folder
};

/// Options that all jobs have: nodes, queue, launcher.
void add_queue_options(CLI::App& parser, SlurmOptions& options);

}  // namespace convoke::app
