#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "convoke/metrics/console.hpp"
#include "convoke/os/standard_output.hpp"
#include "convoke/supervise/run_view.hpp"

namespace convoke::app {
namespace {

struct WatchOptions {
  std::string folder;
  double interval = 2;  ///< seconds
  bool once = false;
};

constexpr const char* kWatchHelp = R"(Examples:
  convoke watch runs/mnist-sync-20260101-120000     until the run ends; Ctrl-C does not stop the run
  convoke watch runs/first --once                   print the state once, for scripts

Watching reads only the files in the folder of the run. It works on any host that sees this folder, and does
not use MPI.
)";
constexpr const char* kHomeAndErase = "\x1b[H\x1b[J";
constexpr int kWidthOfFiles = 80;

bool is_over(const supervise::RunView& view) {
  return view.state == supervise::RunView::State::kComplete ||
         view.state == supervise::RunView::State::kStopped;
}

// Shows the state of a run, from the files in its folder, until the run ends. Returns EXIT_SUCCESS if the run
// is complete or was printed once; else EXIT_FAILURE.
int watch(const WatchOptions& options) {
  const int columns = ::isatty(STDOUT_FILENO) == 1 ? metrics::standard_error().width() : 0;
  const bool live = columns > 0 && !options.once;
  for (bool first = true;; first = false) {
    const supervise::RunView view = supervise::view_run(options.folder);
    const bool over = is_over(view);
    // A file gets the first and the last state only: on a terminal each replaces the one before.
    if (live || first || over) {
      fmt::print("{}{}",
                 live    ? kHomeAndErase
                 : first ? ""
                         : "\n",
                 supervise::to_text(view, live ? columns : kWidthOfFiles));
      os::flush_standard_output();
    }
    if (options.once) return EXIT_SUCCESS;
    if (over) return view.state == supervise::RunView::State::kComplete ? EXIT_SUCCESS : EXIT_FAILURE;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
  }
}

}  // namespace

std::function<int()> add_watch(CLI::App& parser) {
  auto options = std::make_shared<WatchOptions>();
  add_option(parser, "run", options->folder, "RUN", "The run folder")->required();
  add_option(parser, "--interval", options->interval, "SECONDS", "Seconds between two updates")
      ->check(in_range(0.1, 3600))
      ->capture_default_str();
  parser.add_flag("--once", options->once, "Print the state once and end");
  parser.footer(kWatchHelp);
  return [options] { return watch(*options); };
}

}  // namespace convoke::app
