// The program: a table of commands, of which one is parsed and run.
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <sstream>

#include "cli/manual.hpp"
#include "commands.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/engine/gradient_verification.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/memory.hpp"
#include "convoke/os/standard_output.hpp"
#include "convoke/run/environment.hpp"

namespace {

using namespace convoke::app;

constexpr const char* kData = "Prepare data";
constexpr const char* kTraining = "Train";
constexpr const char* kResults = "Use and compare results";
constexpr const char* kInterop = "Exchange models with other programs";
constexpr const char* kStudies = "Measure and scale";
constexpr const char* kCluster = "Run on a cluster";
constexpr const char* kHelp = "Help";

constexpr std::array kCommands{
    Command{kData, "prepare", "Make a dataset from pictures, texts or tables", add_prepare},
    Command{kData, "inspect", "Show what a dataset holds: counts, statistics, unusual samples", add_inspect},
    Command{kData, "synthesize", "Make synthetic data: pictures of shapes, texts, a table", add_synthesize},
    Command{kTraining, "summary", "Show the network of a recipe: layers, shapes, parameters", add_summary},
    Command{kTraining, "layers", "List the layers of recipes, or show one with its keys", add_layers},
    Command{kTraining, "train", "Train one model, or an ensemble of models that vote", add_train},
    Command{kTraining, "distill", "Train one network on the predictions of a trained model or ensemble",
            add_distill},
    Command{kTraining, "watch", "Follow a run while it trains: curves, remaining time, checkpoints",
            add_watch},
    Command{kTraining, "supervise", "Start training again from its last checkpoint when the machine fails",
            add_supervise},
    Command{kTraining, "gather", "Combine ensemble members that were trained in separate jobs", add_gather},
    Command{kResults, "evaluate", "Measure the accuracy of a trained model on a dataset", add_evaluate},
    Command{kResults, "predict", "Label pictures, texts, table rows or NumPy arrays", add_predict},
    Command{kResults, "report", "Write runs or studies as a web page, with curves, mistakes and times",
            add_report},
    Command{kResults, "compare", "Print finished runs side by side, with a verdict", add_compare},
    Command{kResults, "verify", "Find the first step, layer and value in which two runs differ", add_verify},
    Command{kInterop, "import", "Read a model of PyTorch, Keras or ONNX, and write it as model.h5",
            add_import},
    Command{kInterop, "export", "Write a trained model or an ensemble for another program", add_export},
    Command{kStudies, "study", "Measure recipes on several numbers of ranks, and analyze the times",
            add_study},
    Command{kStudies, "bench", "Time the training step on random data", add_bench},
    Command{kCluster, "slurm", "Write or submit the Slurm jobs for a recipe or a study", add_slurm},
    Command{kCluster, "doctor", "Check the ranks, the hosts and a recipe before a job starts", add_doctor},
    Command{kCluster, "info", "Show the build, the libraries and the cores of each rank", add_info},
    Command{kHelp, "help", "Show the help or the manual page of a command", add_help},
    Command{kHelp, "completion", "Print a script that completes commands in a shell", add_completion},
};

constexpr int kExitUsage = 2;
constexpr const char* kProgramHelp = R"(Examples:
  convoke prepare mnist/ --output mnist.h5     make a dataset from the four MNIST files
  convoke train mnist-sync                     train one model on all cores of this machine
  mpirun -n 4 convoke train mnist-sync         train one model with four ranks
  mpirun -n 4 convoke train mnist-ensemble     train four models, and let them vote
  convoke help train                           show the options of a command, with examples
)";

int parse_and_run(int argc, char** argv) {
  // 1. The commands and their options.
  CLI::App parser(
      "Convoke trains neural networks for classification on the CPU cores of a workstation or a cluster",
      "convoke");
  parser.formatter_fn(
      [](const CLI::App* app, const std::string&, CLI::AppFormatMode) { return help_text(manual_of(*app)); });
  parser.set_help_flag("-h,--help", "Show this help");
  parser.set_version_flag("--version", "convoke " + convoke::run::convoke_version(), "Show the version");
  parser.option_defaults()->group("Options");
  parser.footer(kProgramHelp);
  parser.require_subcommand(1);
  const std::function<int()> run = add_commands(parser, kCommands);

  // 2. The command that was chosen. --help and --version end here, before anything is set up.
  try {
    if (argc < 2) throw convoke::Error("a command is missing", "convoke --help lists the commands");
    if (argv[1][0] != '-') convoke::find_in(kCommands, argv[1], "command");
    parser.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == EXIT_SUCCESS) {
      std::ostringstream text;
      parser.exit(error, text);
      fmt::print("{}", text.str());
      return EXIT_SUCCESS;
    }
    std::string name = "convoke", what = error.what();
    const CLI::App* app = &parser;
    for (; !app->get_subcommands().empty(); name += " " + app->get_name())
      app = app->get_subcommands().front();
    std::vector<std::string> options;
    for (const CLI::Option* option : app->get_options()) options.push_back(option->get_name());
    for (const std::string& word : app->remaining()) what += convoke::did_you_mean(word, options);
    convoke::mpi::Session::abort(convoke::Error(what, name + " --help shows the options"), kExitUsage);
  } catch (const convoke::Error& error) {
    convoke::mpi::Session::abort(error, kExitUsage);
  }

  // 3. Run it.
  std::error_code gone;
  if (std::filesystem::current_path(gone).empty())
    throw convoke::Error("the working folder: " + gone.message(), "change to a folder that exists");
  return run();
}

// For exceptions that nothing can catch: in another thread, or in a noexcept function of a library.
[[noreturn]] void report_uncaught() {
  try {
    if (const std::exception_ptr uncaught = std::current_exception()) std::rethrow_exception(uncaught);
  } catch (const std::exception& error) {
    convoke::mpi::Session::abort(error);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

// Prints why output is lost, which must not look like success.
int write_output(int code) {
  try {
    convoke::os::flush_standard_output();
    return code;
  } catch (const convoke::Error& error) {
    convoke::mpi::Session::abort(error, code == EXIT_SUCCESS ? EXIT_FAILURE : code);
  }
}

// The system calls this before it initializes any library.
extern "C" void before_libraries(int, char**, char** environment) {
  convoke::os::hide_openmp_binding(environment);
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeLibraries)(int, char**,
                                                                             char**) = before_libraries;

// An error ends all ranks, and is printed once.
int main(int argc, char** argv) {
  std::set_terminate(report_uncaught);
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` fails then, as on a full disk
  convoke::os::occupy_standard_streams();
  convoke::os::map_large_blocks();
  try {
    return write_output(parse_and_run(argc, argv));
  } catch (const convoke::engine::SilentCorruption& error) {
    convoke::mpi::Session::abort(error, convoke::engine::kExitCorrupted);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    if (!convoke::os::standard_output_failed() || what.starts_with("standard output: ")) {
      convoke::mpi::Session::abort(error);
    }
    convoke::mpi::Session::abort(convoke::Error(
        "standard output: " + what, "free space on the disk, or redirect the output to another disk"));
  }
}
