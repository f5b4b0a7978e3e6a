#include "watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "convoke/metrics/console.hpp"
#include "convoke/run/run_view.hpp"

namespace convoke::app {
namespace {

constexpr const char* kWatchExamples = R"(Examples:
  convoke watch runs/mnist-sync-20260101-120000     until it ends; Ctrl-C leaves the run alone
  convoke watch runs/first --once                   one look, for scripts
Reads the files of the run's folder alone: from any host that sees it, without MPI.
)";
constexpr const char* kHomeAndErase = "\x1b[H\x1b[J";
constexpr int kWidthOfFiles = 80;

bool is_over(const run::RunView& view) {
  return view.state == run::RunView::State::kComplete || view.state == run::RunView::State::kStopped;
}

}  // namespace

void add_watch(CLI::App& parser, WatchOptions& options) {
  parser.add_option("run", options.folder, "The folder of a run")->required()->type_name("RUN");
  parser.add_option("--interval", options.interval, "Seconds between looks")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  parser.add_flag("--once", options.once, "Look once and end");
  parser.footer(kWatchExamples);
}

int watch(const WatchOptions& options) {
  const int columns = ::isatty(STDOUT_FILENO) == 1 ? metrics::standard_error().width() : 0;
  const bool live = columns > 0 && !options.once;
  for (bool first = true;; first = false) {
    const run::RunView view = run::view_run(options.folder);
    const bool over = is_over(view);
    // In a file every look would be a page: only the first and the last are.
    if (live || first || over) {
      fmt::print("{}{}",
                 live    ? kHomeAndErase
                 : first ? ""
                         : "\n",
                 run::to_text(view, live ? columns : kWidthOfFiles));
      std::fflush(stdout);
    }
    if (options.once) return EXIT_SUCCESS;
    if (over) return view.state == run::RunView::State::kComplete ? EXIT_SUCCESS : EXIT_FAILURE;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
  }
}

}  // namespace convoke::app
