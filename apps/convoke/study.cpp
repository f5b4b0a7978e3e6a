#include "study.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "command.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/console.hpp"
#include "convoke/run/signals.hpp"
#include "convoke/study/cell_table.hpp"
#include "convoke/study/conduct.hpp"
#include "convoke/study/launch.hpp"
#include "study_analyse.hpp"
#include "study_predict.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string file;
  std::string output;
  bool resume = false;
  bool dry_run = false;
  bool no_bind = false;
};

constexpr const char* kExamples = R"(A study file names recipes, and axes whose product are its cells:
  recipe  = ["mnist-sync", "mnist-ensemble"]
  ranks   = [1, 2, 4]           # also threads, portion (of the samples), batch ("strong", "weak"),
  portion = [0.25, 0.5, 1]      # mode ("sync", "ensemble", "4x2": 4 members of 2 ranks each)
  repeats = 10                  # runs of each cell, then more, at_most = 30, until the 95 % interval of the
  target  = 0.05                # makespan is within 5 % of the mean; budget = "2 h" ends it in any case
  [set]                         # any key of the recipe, the same in all cells
  train.epochs = 2
  [axes]                        # any key of the recipe, each value in turn
  train.precision = ["fp32", "bf16"]
Examples:
  convoke study scaling.toml --dry-run                  which cells, in which order, on which cores
  convoke study scaling.toml --output studies/first     run it; Ctrl-C ends the run under way, no other is lost
  convoke study scaling.toml --output studies/first --resume       go on; runs that failed are made again
  convoke study analyse studies/first/measurements.csv  speed-up, laws, verdicts
  mpirun -n 4 convoke study predict mnist-sync          and on 1 to 1,024 ranks
Every run is `convoke train` by mpirun, each rank bound to cores of its own, in random order, between spin loops
that tell whether the machine was disturbed. Runs on more ranks than cores, or disturbed, are marked wherever their
figures are printed. docs/guide.md explains all keys, docs/formats.md the folder.
)";

const std::array kOthers{
    command("analyse", "Speed-up, laws, tests, cost and advice from tables of times, anybody's",
            add_study_analyse, study_analyse),
    command("predict", "What a step takes on more ranks than there are here, on a cluster as described",
            add_study_predict, study_predict),
};

// mpirun in mpirun does not work, and a study needs one process alone.
void require_no_launcher() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"}) {
    if (std::getenv(variable) == nullptr) continue;
    throw Error("a study starts its runs by mpirun itself, but was started by a launcher",
                "convoke study FILE, without mpirun or srun before it");
  }
}

std::string this_program() { return fs::read_symlink("/proc/self/exe").string(); }

study::Surroundings surroundings_of(const Options& options) {
  const std::vector<int> cores = study::cores_here();
  return {.program = this_program(),
          .cores = cores,
          .all_cores = static_cast<std::int64_t>(cores.size()),
          .bind = !options.no_bind};
}

void print_plan(const study::StudyFile& file, const std::vector<study::Configuration>& cells,
                const study::Surroundings& surroundings) {
  fmt::print("{}: {} cells, {} to {} runs of each, on {} core{}\n", file.name, cells.size(), file.repeats,
             file.at_most, surroundings.all_cores, surroundings.all_cores == 1 ? "" : "s");
  for (const std::uint32_t i : study::order_of_round(static_cast<std::int64_t>(cells.size()), file.seed, 1)) {
    const study::Configuration& cell = cells[i];
    const study::Launch launch =
        study::launch_of(cell.at.ranks, cell.at.threads, surroundings.all_cores, surroundings.bind);
    fmt::print("  {}{}\n    {} convoke train {}", cell.name, launch.oversubscribed ? "  OVERSUBSCRIBED" : "",
               join(launch.words, " "), cell.recipe);
    for (const std::string& change : cell.changes) fmt::print(" --set {}", change);
    fmt::print("\n");
  }
}

void print_end(const study::StudyFile& file, const std::vector<study::Configuration>& cells,
               const study::StudyFolder& folder, const study::Conduct& conduct) {
  fmt::print("\n");
  for (const std::string& line : study::cell_table(cells, folder.read())) fmt::print("{}\n", line);
  fmt::print("\n{} runs in this session, {} failed, {} disturbed", conduct.made, conduct.failed,
             conduct.disturbed);
  if (conduct.left_out > 0) {
    fmt::print("; {} left out, for which the budget of {} had no time", conduct.left_out,
               format_duration(file.budget_seconds));
  }
  fmt::print("\n");
  if (conduct.run_seconds > 0) {
    fmt::print("the study's own work: {}, {:.1f} % of the {} that its runs took\n",
               format_duration(conduct.own_seconds), 100 * conduct.own_seconds / conduct.run_seconds,
               format_duration(conduct.run_seconds));
  }
  fmt::print("study folder: {}\n", folder.path().string());
}

int run_study(const Options& options) {
  if (options.file.empty()) {
    throw Error("no study is named",
                "convoke study FILE.toml; convoke study --help shows how one is written");
  }

  // 1. What is to be found out: all cells, checked before the first run.
  require_no_launcher();
  const study::StudyFile file = study::StudyFile::load(options.file);
  const std::vector<study::Configuration> cells = study::configurations(file);
  const study::Surroundings surroundings = surroundings_of(options);
  if (file.leave_out) {
    for (const std::string& cell : study::obstacles(file)) fmt::print("left out: {}\n", cell);
  }
  if (options.dry_run) {
    print_plan(file, cells, surroundings);
    return EXIT_SUCCESS;
  }

  // 2. Where it is kept.
  const study::StudyFolder folder = study::StudyFolder::create(file, options.output, options.resume);

  // 3. Run by run.
  const run::StopSignals signals;
  const study::Conduct conduct = study::conduct(file, cells, folder, surroundings, metrics::standard_error());

  // 4. Say it.
  print_end(file, cells, folder, conduct);
  if (conduct.interrupted_by == 0) return EXIT_SUCCESS;
  fmt::print(
      "Stopped; the run under way is lost, all others are kept. Go on with: convoke study {} --output {} "
      "--resume\n",
      options.file, folder.path().string());
  return run::kExitRequeue;
}

}  // namespace

std::function<int()> add_study(CLI::App& parser) {
  auto options = std::make_shared<Options>();
  parser.add_option("file", options->file, "What is to be studied: a TOML file")->type_name("FILE.toml");
  CLI::Option* output =
      parser.add_option("--output", options->output, "The study's folder (default: studies/<name>-<time>)")
          ->type_name("FOLDER");
  parser.add_flag("--resume", options->resume, "Go on with the study in --output")->needs(output);
  parser.add_flag("--dry-run", options->dry_run, "Print the cells and their commands, and do nothing");
  parser.add_flag("--no-bind", options->no_bind, "Let the system choose the cores of ranks");
  parser.footer(kExamples);
  std::vector<std::pair<CLI::App*, std::function<int()>>> others;
  for (const Command& command : kOthers) {
    CLI::App* const subcommand = parser.add_subcommand(command.name, command.description);
    others.emplace_back(subcommand, command.add(*subcommand));
  }
  return [options, others] {
    for (const auto& [subcommand, run] : others) {
      if (subcommand->parsed()) return run();
    }
    return run_study(*options);
  };
}

}  // namespace convoke::app
