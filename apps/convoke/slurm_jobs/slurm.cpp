#include "slurm_jobs/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/text_file.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/child_process.hpp"
#include "convoke/recipe/recipe.hpp"
#include "slurm_jobs/commands.hpp"
#include "slurm_jobs/kinds.hpp"
#include "slurm_jobs/study_jobs.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSlurmExamples = R"(Examples:
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
      command += " " + shell_word(word);
    }
  }
  std::replace(command.begin(), command.end(), '\n', ' ');  // it becomes a comment
  return command;
}

// "convoke" where that is this program, else its path.
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
  job.program = options.program.empty() ? shell_word(this_program()) : options.program;
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
    if (read_text(folder / name).value_or(text) != text) {
      throw Error(fmt::format("{}: is there, and says something else", (folder / name).string()),
                  "another --output, or remove it");
    }
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw Error(fmt::format("{}: cannot be made: {}", folder.string(), failed.message()));
  for (const auto& [name, text] : files) os::replace_text(folder / name, text);
}

}  // namespace

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
  parser.footer(kSlurmExamples);
}

int slurm(const SlurmOptions& options) {
  // 1. What is to run, and what on: the recipe, and what sinfo knows unless all is given.
  const JobKind& kind = job_kind(options.kind);
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
  std::string words = shell_word(options.recipe);
  for (const std::string& change : options.changes) words += " --set " + shell_word(change);
  // A worker thread on each core that the job has, wherever the system lets its ranks run.
  if (recipe.run.threads == 0) words += " --set run.threads=\"$SLURM_CPUS_PER_TASK\"";
  const JobRequest request{options, recipe, job_options(options, name, partition), words, partition};
  slurm::Plan plan;
  if (options.chain && !options.source.empty() && options.kind != "prepare")
    job_kind("prepare").plan(request, plan);
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
