#include "cluster/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "commands.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/pattern.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/process.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/recipe/toml.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSlurmHelp = R"(Examples:
  convoke slurm train mnist-sync --dry-run                        print the script of the job
  convoke slurm train mnist-sync --nodes 2 --time 2:00:00 --submit
  convoke slurm ensemble mnist-ensemble --set ensemble.members=8 --submit
                                                                  a job for each member, and a vote
  convoke slurm study mnist-sync --nodes 8 --submit               one run on 1, 2, 4 and 8 nodes
  convoke slurm study scaling.toml --submit                       a study file: convoke help study
  convoke slurm train my.toml --source photos/ --chain --submit   prepare, train, evaluate
  convoke slurm train mnist-sync --sweep train.batch=32,64,128 --at-once 2 --submit

Without --submit, the scripts are only written, so that you can read and change them. The script submit.sh next
to them submits them.

Slurm warns a job before its time limit. The job then writes a checkpoint, returns to the queue and resumes.
See docs/cluster.md.
)";

// The command line of this program, without the options that only say where the scripts go.
std::string command_given() {
  const std::vector<std::string> words = os::command_line();
  std::string command = "convoke";
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--dry-run" || word == "--submit") continue;
    const bool of_study = word == "--output" && command.starts_with("convoke study");  // its folder
    if (!of_study && (word == "--output" || word == "--program")) {
      ++i;
    } else {
      command += " " + shell_word(word);
    }
  }
  std::ranges::replace(command, '\n', ' ');  // it becomes a comment
  return command;
}

// "convoke" if the PATH finds this program by that name, else its path.
std::string this_program() {
  std::error_code unknown;
  const fs::path self = fs::read_symlink("/proc/self/exe", unknown);
  const std::optional<fs::path> found = os::find_program("convoke");
  return found && fs::equivalent(*found, self, unknown) ? "convoke" : self.string();
}

std::int64_t time_limit(const SlurmOptions& options, const slurm::Partition* partition) {
  constexpr std::int64_t kHour = 3600;
  const std::int64_t limit = partition == nullptr ? slurm::kUnlimited : partition->time_limit;
  const bool limited = limit != slurm::kUnlimited;
  if (options.time.empty()) return limited ? std::min(limit, kHour) : kHour;
  const std::int64_t wanted = slurm::parse_time(options.time, "--time");
  if (wanted == 0 || wanted == slurm::kUnlimited) {  // 0 means the same for Slurm
    throw Error(
        fmt::format("--time {}: a job needs a limit, before which it writes a checkpoint", options.time),
        "choose the limit of each job, such as 1:00:00");
  }
  if (limited && wanted > limit) {
    throw Error(fmt::format("--time {}: more than partition {} allows, {}", options.time, partition->name,
                            slurm::format_time(limit)),
                "choose a shorter time: a job that is not done continues in the queue by itself");
  }
  return wanted;
}

// There must be time to train before Slurm's warning, and to write a checkpoint after it.
void require_time(const slurm::JobOptions& job) {
  constexpr std::int64_t kEarly = 60;  // seconds that Slurm's warning may come early
  if (job.time_seconds <= job.warning_seconds) {
    throw Error(
        fmt::format("a limit of {} is too short: the warning, {} s before the end, would come before the "
                    "job begins",
                    slurm::format_time(job.time_seconds), job.warning_seconds),
        "choose a longer --time, or a shorter --warning if a checkpoint takes less time");
  }
  if (job.time_seconds <= job.warning_seconds + kEarly) {
    fmt::print(stderr,
               "warning: with a limit of {}, the job may have only {} s before its checkpoint, since Slurm's "
               "warning comes up to {} s early\n  hint: choose a longer --time\n",
               slurm::format_time(job.time_seconds),
               std::max<std::int64_t>(0, job.time_seconds - job.warning_seconds - kEarly), kEarly);
  }
}

slurm::JobOptions job_options(const SlurmOptions& options, const std::string& name,
                              const slurm::Partition* partition) {
  slurm::JobOptions job = options.job;
  job.name = name;
  job.program = options.program.empty() ? shell_word(this_program()) : options.program;
  job.written_by = command_given();
  job.time_seconds = time_limit(options, partition);
  job.launcher = options.launcher == "srun" ? slurm::Launcher::kSrun : slurm::Launcher::kMpirun;
  job.bind = options.bind == "core";
  if (options.kind != "study") require_time(job);  // a run of a study writes no checkpoint
  return job;
}

// jobs/NAME-KIND; for a study, next to its folder.
fs::path default_folder(const SlurmOptions& options, const std::string& name) {
  if (!options.study_folder.empty()) return (fs::path(options.study_folder) / "").parent_path() += "-jobs";
  return fs::path("jobs") / (name + "-" + options.kind);
}

// The text of a script without the command that wrote it.
std::string without_origin(std::string text) {
  const std::size_t begin = text.find("# Written by: ");
  if (begin != std::string::npos) text.erase(begin, text.find('\n', begin) - begin);
  return text;
}

// Does not overwrite scripts, because users edit them. A study that resumes keeps the scripts of its jobs;
// only submit.sh and study.toml are new.
void write_files(const fs::path& folder, const std::vector<slurm::File>& files, bool resumes) {
  std::vector<slurm::File> fresh;
  for (const auto& [name, text] : files) {
    const std::string path = (folder / name).string(), before = read_text(path).value_or(text);
    if (!resumes && before != text) {
      throw Error(path + ": this file exists with other contents",
                  "choose another --output, or remove the file");
    }
    const bool keeps = resumes && fs::exists(path) && name != "submit.sh" && name != "study.toml";
    if (!keeps) fresh.emplace_back(name, text);
    if (keeps && without_origin(before) != without_origin(text)) {
      fmt::print(stderr,
                 "warning: {} is kept, but options or study file would now give another script\n"
                 "  hint: if you have not only edited it, compare it with --dry-run, or remove it\n",
                 path);
    }
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(fmt::format("{}: cannot create this folder: {}", folder.string(), failed.message()));
  for (const auto& [name, text] : fresh) os::replace_text(folder / name, text);
}

// True if `path` is a study file, rather than a recipe.
bool is_study_file(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  const Settings settings = recipe::parse_toml(read_text(path).value_or(""), path);
  return settings.find("recipe") != nullptr && settings.find("model") == nullptr;
}

// Plans the runs of a study file, which sets the ranks itself.
void plan_study_file(const SlurmOptions& options, const slurm::JobOptions& job,
                     const slurm::Partition* partition, slurm::JobSet& jobs) {
  if (!options.changes.empty() || options.layout.nodes > 0 || options.layout.cpus_per_rank > 0 ||
      options.chain) {
    throw Error(fmt::format("{} is a study file, which itself sets the changes and the numbers of ranks",
                            options.recipe),
                "change [set], ranks and threads in this file; --ranks-per-node distributes the ranks");
  }
  plan_study_jobs(study::StudyFile::load(options.recipe), options, job, partition, jobs);
}

// Throws Error for options that would have no effect, and for an --after that names no job.
void require_options(const SlurmOptions& options) {
  static const Pattern kJobs(R"(\d+(_\d+)?(:\d+(_\d+)?)*)");
  if (!options.sweep.empty() && (options.kind != "train" || options.chain)) {
    throw Error("--sweep trains variants with `convoke slurm train`, without --chain",
                "its last job compares the runs; for a dataset, first submit `convoke slurm prepare`");
  }
  if (options.at_once > 0 &&
      (options.kind == "prepare" || (options.kind == "train" && options.sweep.empty()))) {
    throw Error("--at-once limits a job array, but this is one job", "leave it out, or add --sweep");
  }
  if (options.chain && (options.kind == "prepare" || (options.kind == "study" && options.source.empty()))) {
    throw Error(fmt::format("--chain adds no job to `convoke slurm {}`", options.kind), "leave it out");
  }
  if (!options.source.empty() && !options.chain && options.kind != "prepare") {
    throw Error("--source needs --chain", "add --chain to prepare the dataset first, or leave out --source");
  }
  if (!options.program.empty() &&
      os::run({"bash", "-nc", fmt::format("convoke=({})", options.program)}).code != 0) {
    throw Error(fmt::format("--program {}: not words of a shell", options.program),
                "quote each word that has spaces: --program 'apptainer exec \"my image.sif\" convoke'");
  }
  if (!options.after.empty() && whole_match(options.after, kJobs).empty()) {
    throw Error(fmt::format("--after {}: not the number of a job", options.after),
                "squeue --me lists your jobs; write 87, or 87_3 for a job of an array, or 87:88 for both");
  }
}

}  // namespace

int slurm(const SlurmOptions& options) {
  require_options(options);

  // 1. The recipe or study, and the nodes: sinfo lists them, unless the options say all.
  const JobKind& kind = job_kind(options.kind);
  const bool of_file = options.kind == "study" && is_study_file(options.recipe);
  const recipe::Recipe recipe =
      of_file ? recipe::Recipe{} : recipe::Recipe::load(options.recipe, options.changes);
  const std::string name = of_file ? study::StudyFile::load(options.recipe).name : recipe.name;
  std::optional<slurm::Partition> asked;
  if (of_file ? options.layout.ranks_per_node == 0 : !options.layout.complete()) {
    asked = ask_sinfo(options.job.partition, of_file ? kNodesOfStudyFile : kNodesOfRecipe);
  }
  const slurm::Partition* const partition = asked ? &*asked : nullptr;

  // 2. The jobs.
  std::string words = shell_word(options.recipe);
  for (const std::string& change : options.changes) words += " --set " + shell_word(change);
  // One worker thread for each core of the job, whatever the binding.
  if (recipe.run.execution.threads == 0) words += " --set run.threads=\"$SLURM_CPUS_PER_TASK\"";
  const JobRequest request{options, recipe, job_options(options, name, partition), words, partition};
  slurm::JobSet jobs;
  if (options.chain && !options.source.empty() && options.kind != "prepare")
    job_kind("prepare").plan(request, jobs);
  if (of_file) {
    plan_study_file(options, request.job, partition, jobs);
  } else {
    kind.plan(request, jobs);
  }
  if (!options.after.empty()) start_after(jobs, options.after);

  // 3. The scripts.
  std::vector<slurm::File> files = jobs.files;
  files.insert(files.end(), jobs.scripts.begin(), jobs.scripts.end());
  files.emplace_back("submit.sh", submit_script(jobs, request.job));
  if (options.dry_run) {
    for (const auto& [file, text] : files) fmt::print("# ==> {} <==\n{}\n", file, text);
    return EXIT_SUCCESS;
  }
  const fs::path folder = options.output.empty() ? default_folder(options, name) : fs::path(options.output);
  write_files(folder, files, options.resume);

  // 4. The submission.
  const std::string submit_file = (folder / "submit.sh").string();
  if (options.submit) {
    fmt::print("{}\n", submit(submit_file));
  } else {
    for (const auto& [file, text] : files) fmt::print("{}\n", (folder / file).string());
    fmt::print("Submit with: bash {}\n", shell_word(submit_file));
  }
  return EXIT_SUCCESS;
}

void add_queue_options(CLI::App& parser, SlurmOptions& options) {
  parser.option_defaults()->group("Size of each job (by default from the recipe and sinfo)");
  const auto count = [&](const char* name, auto& to, const char* value, const char* text) {
    add_option(parser, name, to, value, text)->check(positive());
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
      ->check(positive())
      ->capture_default_str();
  add_option(parser, "--partition", options.job.partition, "NAME",
             "Partition; that of the cluster by default");
  add_option(parser, "--account", options.job.account, "NAME", "Account that pays");
  add_option(parser, "--constraint", options.job.constraint, "FEATURES",
             "Features that nodes must have, such as avx512");
  add_option(parser, "--mail", options.job.mail, "ADDRESS", "Send a mail when a job ends, fails or restarts");
  add_option(parser, "--restarts", options.job.restarts, "K",
             "Restart a job at most K times after a node was lost")
      ->check(in_range(0, 1000))
      ->capture_default_str();
  add_option(parser, "--after", options.after, "JOB", "Start after this job has succeeded; 87:88 names two");

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

std::function<int()> add_slurm(CLI::App& parser) {
  auto options = std::make_shared<SlurmOptions>();
  add_choice(parser, "kind", options->kind, {"train", "ensemble", "study", "prepare"},
             "train: one job\nensemble: a job for each member, then a vote\nstudy: the runs of a study file, "
             "or of a recipe on 1, 2, 4, ... nodes\nprepare: make the dataset")
      ->required();
  add_recipe_options(parser, *options);
  add_queue_options(parser, *options);
  add_option(parser, "--sweep", options->sweep, "KEY=A,B,...",
             "With train: a job for each value; several --sweep make all combinations")
      ->allow_extra_args(false);
  CLI::Option* source = add_option(parser, "--source", options->source, "SOURCE",
                                   "With prepare or --chain: the source of the dataset");
  add_option(parser, "--prepare-options", options->prepare_options, "OPTIONS",
             "Further options for convoke prepare, in quotes")
      ->needs(source);
  parser.add_flag("--chain", options->chain, "Prepare (with --source), run the job, then evaluate the model");
  add_option(parser, "--output", options->output, "FOLDER",
             "The folder of the scripts; jobs/NAME-KIND by default");
  parser.add_flag("--dry-run", options->dry_run, "Print the scripts, and do nothing")->excludes("--submit");
  parser.footer(kSlurmHelp);
  return [options] { return slurm(*options); };
}

}  // namespace convoke::app
