#include "slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/run/atomic_file.hpp"
#include "slurm_commands.hpp"
#include "slurm_study.hpp"
#include "slurm_workload.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples = R"(Examples:
  convoke slurm train mnist-sync --dry-run                     show the job's script; nothing else happens
  convoke slurm train mnist-sync --nodes 2 --time 2:00:00 --submit
  convoke slurm ensemble mnist-ensemble --set ensemble.members=8 --submit     an array of members, and a vote
  convoke slurm study mnist-sync --nodes 8 --submit            on 1, 2, 4 and 8 nodes, side by side at the end
  convoke slurm study scaling.toml --submit                    the runs of a study: convoke study --help
  convoke slurm train my.toml --source photos/ --chain --submit               prepare, train, report
  convoke slurm train mnist-sync --sweep train.batch=32,64,128 --at-once 2 --submit
Without --submit the scripts are written, to be read and changed; submit.sh beside them submits them.
A job that Slurm warns of its end writes a checkpoint, goes back into the queue and resumes: docs/cluster.md.
)";

/// What a kind of jobs needs to know.
struct Request {
  const SlurmOptions& options;
  const recipe::Recipe& recipe;
  slurm::JobOptions job;
  std::string recipe_words;  ///< the recipe and its changes, for a shell
  const slurm::Partition* partition;

  slurm::Layout layout(const slurm::Workload& workload) const {
    if (workload.node_bytes == 0) {
      fmt::print(stderr,
                 "warning: {} is not here yet, so the memory asked for is without its samples\n"
                 "  hint: if they are many, add theirs to --mem in the scripts\n",
                 recipe.data.path);
    }
    slurm::Layout wished = options.layout;
    if (recipe.run.threads > 0 && wished.cpus_per_rank == 0) wished.cpus_per_rank = recipe.run.threads;
    // As many members as ranks: a rank on every core, as in one job without Slurm.
    if (workload.one_node && wished.cpus_per_rank == 0 && wished.ranks_per_node == 0)
      wished.cpus_per_rank = 1;
    return lay_out(workload, wished, partition);
  }
};

// a=1 and b=x, one for each combination of the values in "a=1,2" and "b=x,y".
std::vector<slurm::Changes> variants_of(const std::vector<std::string>& sweep) {
  std::vector<slurm::Changes> variants{{}};
  for (const std::string& dimension : sweep) {
    const std::size_t equals = dimension.find('=');
    if (equals == std::string::npos || dimension.find_first_of(" \"'\\$`") != std::string::npos) {
      throw Error(fmt::format("--sweep {}: is not KEY=VALUE,VALUE,... without spaces and quotes", dimension),
                  "as --sweep train.optimizer.learning_rate=1e-3,3e-3");
    }
    std::vector<slurm::Changes> more;
    for (const slurm::Changes& before : variants) {
      std::string rest = dimension.substr(equals + 1);
      for (std::size_t end = 0; end != std::string::npos; rest.erase(0, end + 1)) {
        end = rest.find(',');
        more.push_back(before);
        more.back().push_back(fmt::format("{}={}", dimension.substr(0, equals), rest.substr(0, end)));
        if (end == std::string::npos) break;
      }
    }
    variants = std::move(more);
  }
  return variants;
}

// Every variant is a recipe that can be trained.
void require_variants(const SlurmOptions& options, const std::vector<slurm::Changes>& variants) {
  for (const slurm::Changes& variant : variants) {
    std::vector<std::string> changes = options.changes;
    changes.insert(changes.end(), variant.begin(), variant.end());
    recipe::Recipe::load(options.recipe, changes);
  }
}

void plan_prepare(const Request& request, slurm::Plan& plan) {
  if (request.options.source.empty()) {
    throw Error("where the samples come from is not said",
                "--source FILE_OR_FOLDER, as of `convoke prepare`");
  }
  slurm::Workload workload;
  workload.name = "preparing";
  workload.most_workers = std::int64_t{1} << 30;
  workload.one_node = true;
  slurm::Layout wished = request.options.layout;
  if (wished.cpus_per_rank == 0) wished.cpus_per_rank = 1;
  add_prepare(plan, request.job, lay_out(workload, wished, request.partition), request.options.source,
              request.recipe.data.path, request.options.prepare_options);
}

void plan_train(const Request& request, slurm::Plan& plan) {
  const SlurmOptions& options = request.options;
  const slurm::Workload workload = workload_of(request.recipe, false);
  const slurm::Layout layout = request.layout(workload);
  if (!options.sweep.empty()) {
    const std::vector<slurm::Changes> variants = variants_of(options.sweep);
    require_variants(options, variants);
    add_sweep(plan, request.job, layout, request.recipe_words, variants, options.at_once);
    return;
  }
  add_train(plan, request.job, layout, request.recipe_words);
  if (options.chain) add_evaluate(plan, request.job, layout);
}

void plan_ensemble(const Request& request, slurm::Plan& plan) {
  const recipe::Recipe& recipe = request.recipe;
  if (recipe.train.mode != "ensemble") {
    throw Error(fmt::format("{} trains one synchronous model", recipe.name),
                "convoke slurm train, or an ensemble: --set train.mode=ensemble");
  }
  if (recipe.ensemble.members == 0) {
    throw Error(fmt::format("{} does not say how many members there are (\"ranks\")", recipe.name),
                "--set ensemble.members=8; each becomes a job of its own");
  }
  const slurm::Workload workload = workload_of(recipe, true);
  const slurm::Layout layout = request.layout(workload);
  add_ensemble(plan, request.job, layout, request.recipe_words, recipe.ensemble.members,
               request.options.at_once);
  if (request.options.chain) add_evaluate(plan, request.job, layout);
}

void plan_study(const Request& request, slurm::Plan& plan) {
  const SlurmOptions& options = request.options;
  if (options.layout.nodes == 0) {
    throw Error("up to how many nodes the study goes is not said",
                "--nodes N: on 1, 2, 4, ... N; or name the file of a study");
  }
  const slurm::Layout largest = request.layout(workload_of(request.recipe, false));
  plan_study_jobs(study_on_nodes(options, request.recipe.name, largest), options, request.job,
                  request.partition, plan);
}

// A study file says itself what its cells are, and needs no --nodes.
void plan_study_file(const SlurmOptions& options, const slurm::JobOptions& job,
                     const slurm::Partition* partition, slurm::Plan& plan) {
  if (!options.changes.empty() || options.layout.nodes > 0 || options.layout.cpus_per_rank > 0 ||
      options.chain) {
    throw Error(fmt::format("{} is a study, which says itself what is changed, and on how many ranks",
                            options.recipe),
                "[set], ranks and threads in its file; --ranks-per-node spreads the ranks over nodes");
  }
  plan_study_jobs(study::StudyFile::load(options.recipe), options, job, partition, plan);
}

struct Kind {
  const char* name;
  void (*plan)(const Request&, slurm::Plan&);
};

constexpr std::array kKinds{Kind{"train", plan_train}, Kind{"ensemble", plan_ensemble},
                            Kind{"study", plan_study}, Kind{"prepare", plan_prepare}};

// The command as it was given, without what says only where its scripts go.
std::string command_given() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string command = "convoke";
  std::string word;
  std::getline(in, word, '\0');
  while (std::getline(in, word, '\0')) {
    if (word == "--dry-run" || word == "--submit") continue;
    if (word == "--output" || word == "--program") {
      std::getline(in, word, '\0');
    } else {
      command += " " + slurm::shell_word(word);
    }
  }
  std::replace(command.begin(), command.end(), '\n', ' ');  // it becomes a comment
  return command;
}

// "convoke" where that is this program, else its path.
std::string this_program() {
  std::error_code unknown;
  const fs::path self = fs::read_symlink("/proc/self/exe", unknown);
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::string rest = path;
    for (std::size_t end = 0; end != std::string::npos; rest.erase(0, end + 1)) {
      end = rest.find(':');
      const fs::path found = fs::path(rest.substr(0, end)) / "convoke";
      if (fs::exists(found, unknown)) return fs::equivalent(found, self, unknown) ? "convoke" : self.string();
      if (end == std::string::npos) break;
    }
  }
  return self.string();
}

std::int64_t time_limit(const SlurmOptions& options, const slurm::Partition* partition) {
  constexpr std::int64_t kHour = 3600;
  const std::int64_t limit = partition == nullptr ? slurm::kUnlimited : partition->time_limit;
  const bool limited = limit != slurm::kUnlimited;
  if (options.time.empty()) return limited ? std::min(limit, kHour) : kHour;
  const std::int64_t wanted = slurm::parse_time(options.time, "--time");
  if (wanted == slurm::kUnlimited || (limited && wanted > limit)) {
    throw Error(fmt::format("--time {}: is more than partition {} allows, {}", options.time,
                            partition == nullptr ? "" : partition->name,
                            limited ? slurm::format_time(limit) : "which is not known"),
                "a shorter one: a job that is not done goes on by itself in another");
  }
  return wanted;
}

// Slurm's warning must leave time to train before it, and to write a checkpoint behind it.
void require_time(const slurm::JobOptions& job) {
  constexpr std::int64_t kEarly = 60;  // seconds that Slurm may warn before it is asked to
  if (job.time_seconds <= job.warning_seconds) {
    throw Error(
        fmt::format("a limit of {} is too short for one checkpoint: the warning, {} s before the end, "
                    "would come before the job begins",
                    slurm::format_time(job.time_seconds), job.warning_seconds),
        "a longer --time, or a shorter --warning if a checkpoint takes less");
  }
  if (job.time_seconds <= job.warning_seconds + kEarly) {
    fmt::print(
        stderr,
        "warning: of {} that the job has, Slurm's warning may leave {} s before the checkpoint: it comes "
        "up to {} s early\n  hint: a longer --time\n",
        slurm::format_time(job.time_seconds),
        std::max<std::int64_t>(0, job.time_seconds - job.warning_seconds - kEarly), kEarly);
  }
}

slurm::JobOptions job_options(const SlurmOptions& options, const std::string& name,
                              const slurm::Partition* partition) {
  slurm::JobOptions job = options.job;
  job.name = name;
  job.program = options.program.empty() ? slurm::shell_word(this_program()) : options.program;
  job.written_by = command_given();
  job.time_seconds = time_limit(options, partition);
  job.launcher = options.launcher == "srun" ? slurm::Launcher::kSrun : slurm::Launcher::kMpirun;
  job.bind = options.bind == "core";
  if (options.kind != "study") require_time(job);  // a run of a study is made as a whole, or not
  return job;
}

// jobs/NAME-KIND; those of a study beside its folder.
fs::path default_folder(const SlurmOptions& options, const std::string& name) {
  if (!options.study_folder.empty()) return options.study_folder + "-jobs";
  return fs::path("jobs") / (name + "-" + options.kind);
}

void write_files(const fs::path& folder, const std::vector<slurm::File>& files, bool over) {
  for (const auto& [name, text] : files) {
    if (over) break;
    std::ifstream in(folder / name, std::ios::binary);
    if (in && std::string(std::istreambuf_iterator<char>(in), {}) != text) {
      throw Error(fmt::format("{}: is there, and says something else", (folder / name).string()),
                  "another --output, or remove it");
    }
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw Error(fmt::format("{}: cannot be made: {}", folder.string(), failed.message()));
  for (const auto& [name, text] : files) run::replace_text(folder / name, text);
}

}  // namespace

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

void add_slurm(CLI::App& parser, SlurmOptions& options) {
  parser
      .add_option(
          "kind", options.kind,
          "train: one job · ensemble: an array of members, and a vote · study: on 1, 2, 4, ... nodes · "
          "prepare: the dataset")
      ->required()
      ->type_name("train|ensemble|study|prepare");
  add_recipe_options(parser, options);

  add_queue_options(parser, options);
  parser.add_option("--sweep", options.sweep, "train: a job for each value; several make all combinations")
      ->type_name("KEY=A,B,...")
      ->allow_extra_args(false);
  CLI::Option* source =
      parser.add_option("--source", options.source, "prepare, --chain: what the dataset is made of")
          ->type_name("FILE");
  parser.add_option("--prepare-options", options.prepare_options, "Further ones of `convoke prepare`")
      ->needs(source)
      ->type_name("OPTIONS");
  parser.add_flag("--chain", options.chain, "Prepare (with --source), then this, then a report");
  parser.add_option("--output", options.output, "Where scripts are written (default: jobs/NAME-KIND)")
      ->type_name("FOLDER");
  parser.add_flag("--dry-run", options.dry_run, "Print the scripts, and do nothing")->excludes("--submit");
  parser.footer(kExamples);
}

int slurm(const SlurmOptions& options) {
  // 1. What is to run, and what on: the recipe, and what sinfo knows unless all is given.
  const Kind& kind = find_in(kKinds, options.kind, "kind of job");
  const bool of_file = options.kind == "study" && is_study_file(options.recipe);
  const recipe::Recipe recipe =
      of_file ? recipe::Recipe{} : recipe::Recipe::load(options.recipe, options.changes);
  const std::string name = of_file ? study::StudyFile::load(options.recipe).name : recipe.name;
  std::vector<slurm::Partition> partitions;
  const slurm::Partition* partition = nullptr;
  if (of_file ? options.layout.ranks_per_node == 0 : !options.layout.complete()) {
    partitions = ask_sinfo();
    partition = &choose(partitions, options.job.partition);
  }

  // 2. Its jobs.
  std::string words = slurm::shell_word(options.recipe);
  for (const std::string& change : options.changes) words += " --set " + slurm::shell_word(change);
  // A worker thread on each core that the job has, wherever the system lets its ranks run.
  if (recipe.run.threads == 0) words += " --set run.threads=\"$SLURM_CPUS_PER_TASK\"";
  const Request request{options, recipe, job_options(options, name, partition), words, partition};
  slurm::Plan plan;
  if (options.chain && !options.source.empty() && options.kind != "prepare") plan_prepare(request, plan);
  if (of_file) {
    plan_study_file(options, request.job, partition, plan);
  } else {
    kind.plan(request, plan);
  }
  if (!options.after.empty()) start_after(plan, options.after);

  // 3. Their scripts.
  std::vector<slurm::File> files = plan.files;
  for (const slurm::JobScript& script : plan.scripts) files.emplace_back(script.file, to_text(script));
  files.emplace_back("submit.sh", submit_script(plan, request.job));
  if (options.dry_run) {
    for (const auto& [file, text] : files) fmt::print("# ==> {} <==\n{}\n", file, text);
    return EXIT_SUCCESS;
  }
  const fs::path folder = options.output.empty() ? default_folder(options, name) : fs::path(options.output);
  write_files(folder, files, options.resume);

  // 4. Into the queue with them.
  const std::string submit_file = (folder / "submit.sh").string();
  if (options.submit) {
    fmt::print("{}\n", submit(submit_file));
  } else {
    for (const auto& [file, text] : files) fmt::print("{}\n", (folder / file).string());
    fmt::print("Submit with: bash {}\n", submit_file);
  }
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
