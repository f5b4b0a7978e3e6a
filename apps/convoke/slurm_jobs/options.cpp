#include "slurm_jobs/options.hpp"

namespace convoke::app {

void add_queue_options(CLI::App& parser, SlurmOptions& options) {
  const std::string size =
      "Size (what is not given follows from the recipe and sinfo, which is not asked if all three are)";
  const auto count = [&](const char* name, auto& value, const char* what) {
    return parser.add_option(name, value, what)->check(CLI::PositiveNumber)->group(size);
  };
  count("--nodes", options.layout.nodes, "Nodes of each job")->type_name("N");
  count("--ranks-per-node", options.layout.ranks_per_node, "MPI ranks on each")->type_name("R");
  count("--cpus-per-rank", options.layout.cpus_per_rank, "Cores of each rank")->type_name("C");
  count("--at-once", options.at_once, "At most so many jobs of an array at a time")->type_name("K");

  const std::string queue = "Queue";
  parser.add_option("--time", options.time, "Limit of each job, as Slurm's (default: 1 h)")
      ->type_name("T")
      ->group(queue);
  parser
      .add_option("--warning", options.job.warning_seconds, "Seconds before it to checkpoint and go on later")
      ->type_name("S")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(queue);
  parser.add_option("--partition", options.job.partition, "Default: that of the cluster")->group(queue);
  parser.add_option("--account", options.job.account, "Who pays")->group(queue);
  parser.add_option("--constraint", options.job.constraint, "Features of nodes, as \"avx512\"")->group(queue);
  parser.add_option("--mail", options.job.mail, "Who is told of ends, failures and restarts")
      ->type_name("ADDRESS")
      ->group(queue);
  parser.add_option("--restarts", options.job.restarts, "After a node was lost, at most")
      ->type_name("K")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(queue);
  parser.add_option("--after", options.after, "A job that must have succeeded before")
      ->type_name("JOB")
      ->group(queue);

  const std::string start = "How ranks are started";
  parser.add_option("--launcher", options.launcher, "srun: with PMIx")
      ->check(CLI::IsMember({"mpirun", "srun"}))
      ->capture_default_str()
      ->group(start);
  parser.add_option("--bind", options.bind, "core: each rank has cores of its own; none: the system chooses")
      ->check(CLI::IsMember({"core", "none"}))
      ->capture_default_str()
      ->group(start);
  parser.add_option("--program", options.program, "What jobs call (default: this program)")
      ->type_name("COMMAND")
      ->group(start);
  parser.add_flag("--submit", options.submit, "Submit the jobs, and print their numbers");
}

}  // namespace convoke::app
