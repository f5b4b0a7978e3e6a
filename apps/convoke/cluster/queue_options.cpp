#include "cluster/slurm.hpp"

namespace convoke::app {

void add_queue_options(CLI::App& parser, SlurmOptions& options) {
  parser.option_defaults()->group("Size of each job (by default from the recipe and sinfo)");
  const auto count = [&](const char* name, auto& to, const char* value, const char* text) {
    add_option(parser, name, to, value, text)->check(CLI::PositiveNumber);
  };
  count("--nodes", options.layout.nodes, "N", "Number of nodes");
  count("--ranks-per-node", options.layout.ranks_per_node, "R", "MPI ranks on each node");
  count("--cpus-per-rank", options.layout.cpus_per_rank, "C", "Cores of each rank");
  count("--at-once", options.at_once, "K", "Run at most K jobs of a job array at the same time");

  parser.option_defaults()->group("Queue");
  add_option(parser, "--time", options.time, "TIME",
             "Time limit of each job, as Slurm writes it; 1 h by default");
  add_option(parser, "--warning", options.job.warning_seconds, "SECONDS",
             "Write a checkpoint this long before the limit, and continue in the queue")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_option(parser, "--partition", options.job.partition, "NAME",
             "Partition; that of the cluster by default");
  add_option(parser, "--account", options.job.account, "NAME", "Account that pays");
  add_option(parser, "--constraint", options.job.constraint, "FEATURES",
             "Features that nodes must have, such as avx512");
  add_option(parser, "--mail", options.job.mail, "ADDRESS", "Send a mail when a job ends, fails or restarts");
  add_option(parser, "--restarts", options.job.restarts, "K",
             "Restart a job at most K times after a node was lost")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_option(parser, "--after", options.after, "JOB", "Start after this job has succeeded");

  parser.option_defaults()->group("Start of the ranks");
  add_choice(parser, "--launcher", options.launcher, {"mpirun", "srun"},
             "Program that starts the ranks; srun uses PMIx");
  add_choice(parser, "--bind", options.bind, {"core", "none"},
             "Give each rank cores of its own, or let the system choose");
  add_option(parser, "--program", options.program, "COMMAND",
             "How the jobs call Convoke; this program by default");
  parser.option_defaults()->group("Options");
  parser.add_flag("--submit", options.submit, "Submit the jobs, and print their numbers");
}

}  // namespace convoke::app
