#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/jobs.hpp"
#include "commands.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/console.hpp"
#include "convoke/mpi/library.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/stop_signals.hpp"
#include "convoke/study/running/configuration_runner.hpp"
#include "convoke/study/running/queued_runs.hpp"
#include "convoke/study/running/session.hpp"
#include "studies/study_results.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

struct StudyOptions {
  std::string file;
  std::string output;
  bool resume = false;
  bool dry_run = false;
  bool begin = false, collect = false;
  std::int64_t task = -1;
  std::string more;  // the folder of the jobs' scripts
  bool slurm = false;
  SlurmOptions jobs;
};

constexpr const char* kStudyHelp = R"(A study file:
  recipe   = ["mnist-sync", "mnist-ensemble"]
  ranks    = [1, 2, 4]        # also threads, fraction (of the samples), batch ("strong", "weak"),
  fraction = [0.25, 0.5, 1]   # mode ("sync", "ensemble", "4x2": 4 members of 2 ranks each)
  repeats  = 10               # runs of each configuration, and up to at_most = 30, until
  target   = 0.05             # the 95 % interval of the makespan is within 5 % of the mean
  budget   = "2 h"            # ends the study in any case
  [set]                       # keys of the recipe, the same in all configurations
  train.epochs = 2
  [axes]                      # keys of the recipe, with each value in turn
  train.precision = ["fp32", "bf16"]

Examples:
  convoke study scaling.toml --dry-run                         print configurations and commands
  convoke study scaling.toml --output studies/first            make the runs; Ctrl-C loses only one
  convoke study scaling.toml --output studies/first --resume   make the missing and failed runs
  convoke study analyze studies/first/measurements.csv         speed-up, scaling laws, verdicts
  convoke study advise studies/first --machines prices.toml --deadline 2h --accuracy 0.95
  mpirun -n 4 convoke study predict mnist-sync                 predict 1 to 1,024 ranks

A study starts each run itself, by mpirun with convoke train. Runs are made in random order. Each rank has its
own cores. Between the runs, spin loops detect whether other work uses the cores. Runs that were
contended, or had more ranks than cores, are marked wherever their times are printed. Mode "emulated ensemble"
trains the members one after another, each alone, where there are fewer cores than members, and marks that,
too.

docs/studies.md explains all keys, docs/study-files.md the folder.
)";

constexpr std::array kSubcommands{
    Command{"Commands", "analyze", "Compute speed-up, scaling laws, cost and advice from tables of times",
            add_study_analyze},
    Command{"Commands", "advise",
            "Find the cheapest machine and number of workers that meet a deadline and an accuracy",
            add_study_advise},
    Command{"Commands", "predict", "Predict the time and efficiency of a step on more ranks",
            add_study_predict},
    Command{"Commands", "table",
            "Print chosen results as one table, by ranks, fraction or another coordinate", add_study_table},
    Command{"Commands", "card",
            "Compare a publication's figures with ours: followed, contradicted, out of reach",
            add_study_card},
};

// A study is one process that calls mpirun, and mpirun within mpirun does not work, even for one process. The
// shell that salloc starts is a Slurm step of one process, which is fine.
void require_no_launcher() {
  const std::optional<mpi::Launcher> by = mpi::launcher();
  const bool by_pmix = os::variable("PMIX_RANK").has_value();
  if (!by_pmix && (!by || (by->processes <= 1 && std::string_view(by->name) == "srun"))) return;
  throw Error(fmt::format("a study calls mpirun for its runs, but was itself started by {}",
                          by ? by->name : "a launcher"),
              "start it without mpirun or srun: convoke study FILE");
}

study::RunEnvironment environment_of(const StudyOptions& options) {
  return {.program = fs::read_symlink("/proc/self/exe").string(),
          .cores = study::cores_here(),
          .all_cores = study::cores_of_job(),
          .launch_options = {.bind = options.jobs.bind == "core", .srun = options.jobs.launcher == "srun"}};
}

void print_plan(const study::StudyFile& file, const std::vector<study::Configuration>& configurations,
                const study::RunEnvironment& environment) {
  const std::string least = file.repeats < file.at_most ? fmt::format("{} to ", file.repeats) : "";
  fmt::print("{}: {}, {}{} of each, on {}\n", file.name, counted(configurations.size(), "configuration"),
             least, counted(file.at_most, "run"), counted(environment.all_cores, "core"));
  for (const std::uint32_t i :
       study::order_of_round(static_cast<std::int64_t>(configurations.size()), file.seed, 1)) {
    const study::Configuration& configuration = configurations[i];
    const study::Launch launch = study::launch_of(configuration.ranks_at_once(), configuration.at.threads,
                                                  environment.all_cores, environment.launch_options);
    fmt::print("  {}{}\n    {} convoke train {}", configuration.name,
               launch.oversubscribed ? "  OVERSUBSCRIBED" : "", join(launch.words, " "),
               shell_word(configuration.recipe));
    for (const std::string& change : configuration.changes) fmt::print(" --set {}", shell_word(change));
    if (configuration.at.emulated) {
      fmt::print(" --set ensemble.members={0} --member 0 .. {1}    # one after another, then convoke gather",
                 configuration.members, configuration.members - 1);
    }
    fmt::print("\n");
  }
}

// The time of the study in addition to its runs: spin loops, files, the table.
void print_own_work(double own, double runs) {
  if (runs == 0) return;
  constexpr double kMost = 0.02;
  fmt::print(
      "the study itself took {}, {:.1f} % of the {} of its runs{}\n", format_duration(own), 100 * own / runs,
      format_duration(runs),
      own > kMost * runs ? ": more than 2 %, because the runs are short; it is not part of their times" : "");
}

void print_end(const study::StudyFile& file, const std::vector<study::Configuration>& configurations,
               const study::StudyFolder& folder, const study::SessionResult& session) {
  fmt::print("\n");
  for (const std::string& line : study::configuration_table(configurations, folder.read()))
    fmt::print("{}\n", line);
  fmt::print("\n{} runs in this session, {} failed, {} contended", session.made, session.failed,
             session.contended);
  if (session.left_out > 0) {
    fmt::print("; {} left out because of the budget of {}", session.left_out,
               format_duration(file.budget_seconds));
  }
  fmt::print("\n");
  if (session.made > session.failed) {
    print_own_work(session.own_seconds, session.run_seconds);
    if (!session.measured_energy) {
      fmt::print(
          "energy was not measured: /sys/class/powercap has no counters (RAPL) that this user can read\n");
    }
  }
  fmt::print("study folder: {}\n", folder.path().string());
}

// Submits the study, as `convoke slurm study FILE` does.
int study_in_queue(const StudyOptions& options) {
  SlurmOptions jobs = options.jobs;
  jobs.kind = "study";
  jobs.recipe = options.file;
  jobs.study_folder = options.output;
  jobs.resume = options.resume;
  jobs.dry_run = options.dry_run;
  return slurm(jobs);
}

// Writes analysis.json and report.html if any run succeeded.
void write_results(const study::StudyFolder& folder, const std::vector<study::Measurement>& runs) {
  const bool any =
      std::ranges::any_of(runs, [](const study::Measurement& run) { return !run.has_mark("failed"); });
  if (any) write_study_results(folder.path());
}

// False when the budget of the study is used up, counted from its last submission.
bool in_budget(const study::StudyFile& file, const study::StudyFolder& folder) {
  if (file.budget_seconds == 0) return true;
  const auto since = fs::file_time_type::clock::now() - fs::last_write_time(folder.study_file());
  return std::chrono::duration<double>(since).count() < file.budget_seconds;
}

// After the jobs of a study: submits further runs, and says how to make those that are missing.
void go_on_in_queue(const StudyOptions& options, const study::StudyFile& file,
                    const std::vector<study::Configuration>& configurations, const study::StudyFolder& folder,
                    const study::Collected& collected) {
  const std::string path = folder.path().string();
  std::vector<std::int64_t> wanted = study::wanted_tasks(file, configurations, collected.runs);
  const std::vector<std::int64_t> further = study::further_tasks(file, configurations, collected);
  if (!further.empty() && !options.more.empty()) {
    if (in_budget(file, folder)) {
      fmt::print("{} more runs, to know every makespan to {:.1f} %:\n", further.size(), 100 * file.target);
      fmt::print("{}\n", submit_more(file, configurations, further, path, options.more, options.jobs));
      std::erase_if(wanted, [&](std::int64_t run) { return std::ranges::binary_search(further, run); });
    } else {
      fmt::print("the budget of {} is used up\n", format_duration(file.budget_seconds));
    }
  }
  if (wanted.empty()) return;
  // With --more this is one of the jobs, and the others have ended.
  if (const std::string queued = options.more.empty() ? jobs_in_queue(path) : ""; !queued.empty()) {
    fmt::print("{} runs are missing; jobs of this study are still in the queue: {}\n", wanted.size(), queued);
    return;
  }
  fmt::print("{} runs are missing, have failed, or are needed for narrower intervals\n", wanted.size());
  std::string command = command_to_resume(path);
  if (!options.more.empty()) {
    try {
      command =
          "bash " + shell_word(write_more(file, configurations, wanted, path, options.more, options.jobs));
    } catch (const Error&) {  // compute nodes may lack sinfo
    }
  }
  fmt::print("make them with: {}\n", command);
}

// Runs the part of a study that a job of `--slurm` does.
int run_part(const StudyOptions& options, const study::StudyFile& file,
             const std::vector<study::Configuration>& configurations,
             const study::RunEnvironment& environment) {
  if (options.begin) {
    study::StudyFolder::create(file, options.output, options.resume);
    return EXIT_SUCCESS;
  }
  study::StudyFolder folder = study::StudyFolder::open(options.output);
  if (options.collect) {
    folder.lock();
    const study::Collected collected = study::collect(file, configurations, folder);
    for (const std::string& line : study::configuration_table(configurations, collected.runs))
      fmt::print("{}\n", line);
    write_results(folder, collected.runs);
    fmt::print("study folder: {}\n", folder.path().string());
    go_on_in_queue(options, file, configurations, folder, collected);
    return EXIT_SUCCESS;
  }
  const std::vector<study::Task> tasks = study::tasks_of(file, configurations.size());
  if (options.task >= static_cast<std::int64_t>(tasks.size())) {
    throw Error(
        fmt::format("--task {}: {} has {} runs, counted from 0", options.task, options.file, tasks.size()));
  }
  const study::Task& task = tasks[static_cast<std::size_t>(options.task)];
  const study::Configuration& configuration = configurations[task.configuration];
  const os::StopSignals signals;
  const os::Stopwatch watch;
  study::ConfigurationRunner runner(file, folder, environment);
  const study::RunOutcome outcome = study::run_task(task, configurations, file, folder, runner);
  if (outcome.interrupted_by != 0) return run::kExitRequeue;
  if (!outcome.failure.empty()) {
    throw Error(fmt::format("{} run {}: {}", configuration.name, task.repeat, outcome.failure),
                "see its log: " + folder.log(configuration, task.repeat).string());
  }
  std::string marks;
  for (const std::string& mark : outcome.measurement.marks) marks += "  " + mark;
  fmt::print("{} run {}  makespan {:.3f} s{}\n", configuration.name, task.repeat,
             outcome.measurement.makespan_seconds.value_or(0), marks);
  print_own_work(watch.seconds() - runner.run_seconds(), runner.run_seconds());
  return EXIT_SUCCESS;
}

int run_study(const StudyOptions& options) {
  if (options.file.empty()) {
    throw Error("no study file is named",
                "name one: convoke study FILE.toml; convoke study --help shows how to write it");
  }

  const SlurmOptions& jobs = options.jobs;
  const bool sizes = jobs.at_once > 0 || jobs.layout.ranks_per_node > 0 || !jobs.job.partition.empty();
  if (sizes && !options.slurm && !options.collect) {
    throw Error("--at-once, --ranks-per-node and --partition describe jobs, but this study runs here",
                "add --slurm, or leave them out");
  }
  if (options.resume && !options.dry_run) require_no_jobs(options.output);
  if (options.slurm) return study_in_queue(options);

  // 1. The configurations, all checked before the first run.
  require_no_launcher();
  const study::StudyFile file = study::StudyFile::load(options.file);
  const std::vector<study::Configuration> configurations = study::planned_configurations(file);
  const study::RunEnvironment environment = environment_of(options);
  if (file.leave_out) {
    for (const std::string& configuration : study::obstacles(file))
      fmt::print("left out: {}\n", configuration);
  }
  if (options.dry_run) {
    print_plan(file, configurations, environment);
    return EXIT_SUCCESS;
  }

  if (options.begin || options.collect || options.task >= 0)
    return run_part(options, file, configurations, environment);

  // 2. The folder.
  const study::StudyFolder folder = study::StudyFolder::create(file, options.output, options.resume);

  // 3. The runs.
  const os::StopSignals signals;
  const study::SessionResult session =
      study::run_session(file, configurations, folder, environment, metrics::standard_error());

  // 4. The results.
  print_end(file, configurations, folder, session);
  write_results(folder, folder.read());
  if (session.interrupted_by == 0)
    return session.made > 0 && session.failed == session.made ? EXIT_FAILURE : EXIT_SUCCESS;
  fmt::print("Stopped; only the current run is lost. Resume with: convoke study {} --output {} --resume\n",
             shell_word(options.file), shell_word(folder.path().string()));
  return run::kExitRequeue;
}

}  // namespace

std::function<int()> add_study(CLI::App& parser) {
  auto options = std::make_shared<StudyOptions>();
  add_option(parser, "file", options->file, "FILE.toml", "The study file (TOML)");
  CLI::Option* output = add_option(parser, "--output", options->output, "FOLDER",
                                   "The folder of the study; studies/NAME-TIME by default");
  parser.add_flag("--resume", options->resume, "Continue the study in --output")->needs(output);
  parser.add_flag("--dry-run", options->dry_run,
                  "Print the configurations and their commands, and do nothing");

  constexpr const char* kQueue = "Queue of a cluster";
  parser.option_defaults()->group(kQueue);
  CLI::Option* slurm =
      parser.add_flag("--slurm", options->slurm, "Write a Slurm job for each run, in job arrays");
  add_queue_options(parser, options->jobs);
  parser.get_option("--submit")->needs(slurm)->excludes("--dry-run")->group(kQueue);
  // The study file sets the ranks and threads, and a run is not resumed in another job.
  for (const char* other : {"--nodes", "--cpus-per-rank", "--warning", "--restarts"}) {
    parser.remove_option(parser.get_option(other));
  }
  for (const char* of_jobs : {"--time", "--account", "--constraint", "--mail", "--after", "--program"}) {
    parser.get_option(of_jobs)->needs(slurm);
  }
  parser.option_defaults()->group("For the jobs of --slurm");
  CLI::Option* begin = parser.add_flag("--begin", options->begin, "Make the folder, and no run")
                           ->needs(output)
                           ->excludes(slurm);
  CLI::Option* task = add_option(parser, "--task", options->task, "K", "Make only run K, counted from 0")
                          ->check(in_range(0, 1e6).description(""))
                          ->needs(output)
                          ->excludes(slurm)
                          ->excludes(begin);
  CLI::Option* collect =
      parser.add_flag("--collect", options->collect, "Collect the results of all jobs in measurements.csv")
          ->needs(output)
          ->excludes(slurm)
          ->excludes(begin)
          ->excludes(task);
  add_option(parser, "--more", options->more, "FOLDER",
             "Then submit further runs until the intervals are narrow enough, by the scripts in FOLDER")
      ->needs(collect);
  parser.option_defaults()->group("Options");
  parser.footer(kStudyHelp);
  const std::function<int()> run_subcommand = add_commands(parser, kSubcommands);
  return [options, run_subcommand, &parser] {
    return parser.get_subcommands().empty() ? run_study(*options) : run_subcommand();
  };
}

}  // namespace convoke::app
