// The command line: a table of commands, each a pair of functions in a file of its own.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <new>
#include <vector>

#include "bench.hpp"
#include "command.hpp"
#include "compare.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/run/environment.hpp"
#include "doctor.hpp"
#include "evaluate.hpp"
#include "gather.hpp"
#include "info.hpp"
#include "inspect.hpp"
#include "layers.hpp"
#include "predict.hpp"
#include "prepare.hpp"
#include "report.hpp"
#include "slurm_jobs/slurm.hpp"
#include "studies/study.hpp"
#include "summary.hpp"
#include "synthesize.hpp"
#include "train.hpp"
#include "watch.hpp"

namespace {

using namespace convoke::app;

const std::array kCommands{
    command("prepare", "Turn files of samples into a dataset", add_prepare, prepare),
    command("synthesize", "Make a stand-in for a published data set", add_synthesize, synthesize),
    command("inspect", "Show what is in a dataset: counts, statistics, odd samples; also as a page",
            add_inspect, inspect),
    command("compare", "Print finished runs side by side, with a verdict", add_compare, compare),
    command("train", "Train a model with all ranks, or an ensemble that votes", add_train, train),
    command("watch", "Follow a run from the files in its folder: curves, ETA, checkpoint", add_watch, watch),
    command("gather", "Make one ensemble of members that were trained in jobs of their own", add_gather,
            gather),
    command("report", "Write runs as a page: curves, classes, mistakes, times; several are compared",
            add_report, report),
    Command{"study", "Run recipes on many numbers of ranks and more, repeatedly; analyse tables of times",
            add_study},
    command("slurm", "Write or submit jobs for a cluster's queue: train, ensemble, study, prepare", add_slurm,
            slurm),
    command("evaluate", "Accuracy, votes and report of trained models on a dataset", add_evaluate, evaluate),
    command("predict", "Label pictures, NumPy batches or datasets", add_predict, predict),
    command("summary", "Show a recipe's network: layers, shapes, parameters", add_summary, summary),
    command("layers", "List the layers of recipes, or show one with its keys", add_layers, layers),
    command("bench", "Time the training step on random data, beside the bare primitives", add_bench, bench),
    command("doctor", "Look at ranks, hosts and a recipe for what would spoil a job, and say what mends it",
            add_doctor, doctor),
    command("info", "Show the build, the libraries and where the ranks run", add_info, info),
};

constexpr int kExitUsage = 2;
constexpr const char* kMainExamples = R"(Examples:
  convoke prepare mnist/ --output mnist.h5       make a dataset of the four MNIST files
  mpirun -n 4 convoke train mnist-ensemble       four members, each on its shard, then a vote
  mpirun -n 4 convoke train mnist-sync           one model, trained by four ranks together
  convoke train --help                           what a command can do, with examples
)";

}  // namespace

int main(int argc, char** argv) {
  // 1. The commands and their options.
  CLI::App parser(
      "Convoke trains convolutional networks on the cores of a CPU cluster: ranks sum their gradients or "
      "cast their votes.",
      "convoke");
  parser.set_version_flag("--version", "convoke " + convoke::run::convoke_version());
  parser.footer(kMainExamples);
  parser.require_subcommand(1);
  std::vector<std::pair<CLI::App*, std::function<int()>>> runs;
  for (const Command& command : kCommands) {
    CLI::App* subcommand = parser.add_subcommand(command.name, command.description);
    runs.emplace_back(subcommand, command.add(*subcommand));
  }

  // 2. What was asked for. --help and --version end here, before anything is set up.
  try {
    if (argc > 1 && argv[1][0] != '-') convoke::find_in(kCommands, argv[1], "command");
    parser.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == EXIT_SUCCESS) return parser.exit(error);
    const auto chosen = parser.get_subcommands();
    const std::string name = chosen.empty() ? "convoke" : "convoke " + chosen.front()->get_name();
    convoke::mpi::Session::abort(convoke::Error(error.what(), name + " --help shows what it takes"),
                                 kExitUsage);
  } catch (const convoke::Error& error) {
    convoke::mpi::Session::abort(error, kExitUsage);
  }

  // 3. Do it. An error ends all ranks, and is printed once.
  try {
    for (const auto& [subcommand, run] : runs) {
      if (subcommand->parsed()) return run();
    }
  } catch (const std::bad_alloc&) {
    convoke::mpi::Session::abort(convoke::Error(
        "there is no memory left that this process may have",
        "ask for more (ulimit -v, sbatch --mem), or take fewer ranks or threads, a smaller train.lane, or "
        "data.memory = \"...MiB\" to stream samples"));
  } catch (const std::exception& error) {
    convoke::mpi::Session::abort(error);
  }
  return kExitUsage;
}
