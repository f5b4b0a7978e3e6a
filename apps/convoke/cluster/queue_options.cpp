#include "cluster/slurm.hpp"

#include <string>

namespace convoke::app {

void add_queue_options(CLI::App& parser, SlurmOptions& options) {
  const std::string size = "Size of each job (by default from the recipe and sinfo)";
  const auto count = [&](const char* name, auto& value, const char* type, const char* text) {
    parser.add_option(name, value, text)->check(CLI::PositiveNumber)->type_name(type)->group(size);
  };
  count("--nodes", options.layout.nodes, "N", "Number of nodes");
  count("--ranks-per-node", options.layout.ranks_per_node, "R", "MPI ranks on each node");
  count("--cpus-per-rank", options.layout.cpus_per_rank, "C", "Cores of each rank");
  count("--at-once", options.at_once, "K", "Run at most K jobs of a job array at the same time");

  const std::string queue = "Queue";
  const auto add = [&](const char* name, auto& value, const char* type, const char* text) {
    return parser.add_option(name, value, text)->type_name(type)->group(queue);
  };
  add("--time", options.time, "TIME", "Time limit of each job, as Slurm writes it; 1 h by default");
  add("--warning", options.job.warning_seconds, "SECONDS",
      "Write a checkpoint this long before the limit, and continue in the queue")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add("--partition", options.job.partition, "NAME", "Partition; that of the cluster by default");
  add("--account", options.job.account, "NAME", "Account that pays");
  add("--constraint", options.job.constraint, "FEATURES", "Features that nodes must have, such as avx512");
  add("--mail", options.job.mail, "ADDRESS", "Send a mail when a job ends, fails or restarts");
  add("--restarts", options.job.restarts, "K", "Restart a job at most K times after a node was lost")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add("--after", options.after, "JOB", "Start after this job has succeeded");

  const std::string start = "Start of the ranks";
  add_choice(parser, "--launcher", options.launcher, {"mpirun", "srun"},
             "Program that starts the ranks; srun uses PMIx")
      ->group(start);
  add_choice(parser, "--bind", options.bind, {"core", "none"},
             "Give each rank cores of its own, or let the system choose")
      ->group(start);
  parser.add_option("--program", options.program, "How the jobs call Convoke; this program by default")
      ->type_name("COMMAND")
      ->group(start);
  parser.add_flag("--submit", options.submit, "Submit the jobs, and print their numbers");
}

}  // namespace convoke::app
