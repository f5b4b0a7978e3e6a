#pragma once
#include <string>

#include "convoke/slurm/plan.hpp"
#include "convoke/study/running/configuration.hpp"
#include "convoke/study/running/study_file.hpp"
#include "slurm_jobs/options.hpp"

namespace convoke::app {

/// True if `path` is a file that names recipes to be studied, rather than a recipe.
bool is_study_file(const std::string& path);

/// One run of a recipe on each of 1, 2, 4, ... up to so many nodes, as a study.
study::StudyFile study_on_nodes(const SlurmOptions& options, const std::string& name,
                                const slurm::Layout& largest);

/// Adds a job for each run of `file` that is wanted first, or next if it is taken up again, and one that
/// collects.
void plan_study_jobs(const study::StudyFile& file, const SlurmOptions& options, const slurm::JobOptions& job,
                     const slurm::Partition* partition, slurm::Plan& plan);

/// Submits the runs with these numbers, and again one that collects, by the scripts in folder `scripts`; what
/// sbatch has said. Throws Error naming a script that can be started by hand.
std::string submit_more(const study::StudyFile& file, const std::vector<study::Configuration>& cells,
                        const std::vector<std::int64_t>& numbers, const std::string& folder,
                        const std::string& scripts, const SlurmOptions& options);

}  // namespace convoke::app
