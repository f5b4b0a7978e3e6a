#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/slurm/job_set.hpp"
#include "convoke/slurm/partition.hpp"
#include "convoke/study/running/configuration.hpp"
#include "convoke/study/running/study_file.hpp"

// `convoke slurm`: its options, its kinds of jobs, and calls of the commands of Slurm.

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

/// The input for planning jobs.
struct JobRequest {
  const SlurmOptions& options;
  const recipe::Recipe& recipe;
  slurm::JobOptions job;
  std::string recipe_words;  ///< the recipe and its changes, for a shell
  const slurm::Partition* partition;

  /// Returns the size of the jobs. `threads`: run.threads; 0: auto. Warns if the memory of the samples is
  /// unknown.
  slurm::Layout layout(const slurm::Workload& workload, int threads) const;
  slurm::Layout layout(const slurm::Workload& workload) const {
    return layout(workload, recipe.run.execution.threads);
  }
};

/// A kind of jobs that `convoke slurm` plans.
struct JobKind {
  std::string_view name;
  void (*plan)(const JobRequest&, slurm::JobSet&);
};

/// "train", "ensemble", "study" or "prepare". Throws Error for another name.
const JobKind& job_kind(const std::string& name);

/// The resources that a job of this recipe can use: worker threads up to the micro-batches of a step, for
/// each member in the job, and the predicted memory. `alone`: the job trains one member of an ensemble.
/// `recipe` must outlive it.
slurm::Workload workload_of(const recipe::Recipe& recipe, bool alone);

/// Adds a job for each run of `file` that is missing, and a job that collects them.
void plan_study_jobs(const study::StudyFile& file, const SlurmOptions& options, const slurm::JobOptions& job,
                     const slurm::Partition* partition, slurm::JobSet& jobs);

/// Returns the command that submits the missing runs of the study in this folder.
std::string command_to_resume(const std::string& folder);

/// Writes more.sh, which submits the runs with these numbers, and again a job that collects, with the scripts
/// in folder `scripts`. Returns its path.
std::string write_more(const study::StudyFile& file, const std::vector<study::Configuration>& configurations,
                       const std::vector<std::int64_t>& numbers, const std::string& folder,
                       const std::string& scripts, const SlurmOptions& options);

/// Starts this more.sh. Returns the output of sbatch. Throws Error naming the command that the user can
/// start.
std::string submit_more(const study::StudyFile& file, const std::vector<study::Configuration>& configurations,
                        const std::vector<std::int64_t>& numbers, const std::string& folder,
                        const std::string& scripts, const SlurmOptions& options);

/// Returns the numbers of the jobs of this study that are still in the queue, such as "17 18". Empty if Slurm
/// does not answer.
std::string jobs_in_queue(const std::string& study);
/// Throws Error if jobs of this study are still in the queue: they make runs that seem to be missing. Does
/// nothing if Slurm does not answer.
void require_no_jobs(const std::string& study);

/// The partition of this name among those that sinfo lists (slurm::choose). Throws Error if Slurm is not
/// installed, or does not answer; then the user can add `options` instead.
slurm::Partition ask_sinfo(const std::string& name, std::string_view options);
/// The options that describe the nodes for a recipe, and for a study file, which has the numbers of ranks.
constexpr std::string_view kNodesOfRecipe = "--nodes N --ranks-per-node R --cpus-per-rank C";
constexpr std::string_view kNodesOfStudyFile = "--ranks-per-node R";

/// Runs a script that submits jobs, and returns its output, the numbers of the jobs. Throws Error with the
/// message of Slurm and an explanation, and names the jobs that are already in the queue.
std::string submit(const std::string& script);

}  // namespace convoke::app
