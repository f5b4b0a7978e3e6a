#pragma once
#include <string>
#include <string_view>

#include "convoke/recipe/recipe.hpp"
#include "convoke/slurm/plan.hpp"
#include "slurm_jobs/options.hpp"

namespace convoke::app {

/// What a kind of jobs needs to know.
struct JobRequest {
  const SlurmOptions& options;
  const recipe::Recipe& recipe;
  slurm::JobOptions job;
  std::string recipe_words;  ///< the recipe and its changes, for a shell
  const slurm::Partition* partition;

  /// How the work is laid out on nodes. Warns if it cannot know the memory of the samples.
  slurm::Layout layout(const slurm::Workload& workload) const;
};

/// A kind of jobs that `convoke slurm` plans.
struct JobKind {
  std::string_view name;
  void (*plan)(const JobRequest&, slurm::Plan&);
};

/// "train", "ensemble", "study" or "prepare". Throws Error naming the nearest.
const JobKind& job_kind(const std::string& name);

/// The runs of a study file, which says itself what its cells are, and needs no --nodes.
void plan_study_file(const SlurmOptions& options, const slurm::JobOptions& job,
                     const slurm::Partition* partition, slurm::Plan& plan);

}  // namespace convoke::app
