#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/os/standard_output.hpp"
#include "convoke/run/verification.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

struct VerifyOptions {
  std::string a, b;
};

constexpr int kExitDifferent = 1;
constexpr int kExitError = 2;

constexpr const char* kVerifyHelp = R"(Examples:
  convoke verify runs/one-rank runs/four-ranks     the checkpoints of both runs, and the models
  convoke verify runs/a/model.h5 runs/b/model.h5   two models, ensembles or checkpoints
  convoke verify runs/before runs/after && echo equal

Values are equal if their bits are. The first file that differs is shown in detail. The exit code is
that of cmp: 0 if everything is equal, 1 if something differs, 2 if it cannot be compared. A run keeps
its newest two checkpoints. To find the first step that differs, train with more of them
(run.keep_checkpoints, run.checkpoint_every).
)";

// Prints the result for one pair of files in a line.
void print(const std::string& name, const run::FileComparison& found) {
  const std::string position = found.position.empty() ? "" : ", " + found.position;
  const std::string result =
      found.differences.empty()
          ? fmt::format("{}, {} values", counted(found.arrays, "array"), format_count(found.values))
          : counted(found.differences.size(), "difference");
  fmt::print("{:<10} {}{}: {}\n", found.differences.empty() ? "equal" : "different", name, position, result);
}

// Prints the first differences, and all those of the recipes, which may explain the others.
void print_differences(const std::vector<std::string>& differences) {
  constexpr std::size_t kShown = 5;
  std::size_t hidden = 0;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const bool shown = i < kShown || differences[i].starts_with("/fingerprint");
    hidden += shown ? 0 : 1;
    if (shown) fmt::print("  {}\n", differences[i]);
  }
  if (hidden > 0) fmt::print("  and {} more\n", hidden);
}

void print_alone(const std::string& run, const std::vector<fs::path>& files) {
  for (const fs::path& file : files) fmt::print("only in {}: {}\n", run, file.string());
}

int compare_two_files(const VerifyOptions& options) {
  const run::FileComparison found = run::compare_files(options.a, options.b);
  print(options.a, found);
  print_differences(found.differences);
  return found.differences.empty() ? EXIT_SUCCESS : kExitDifferent;
}

int compare_two_runs(const VerifyOptions& options) {
  const run::RunFiles files = run::files_of_runs(options.a, options.b);
  print_alone(options.a, files.only_a);
  print_alone(options.b, files.only_b);
  if (files.both.empty()) {
    throw Error(fmt::format("{} and {} have no checkpoint or model of the same name", options.a, options.b),
                "compare two files, or keep more checkpoints: --set run.keep_checkpoints=100");
  }
  bool equal = true;
  for (const fs::path& file : files.both) {
    const run::FileComparison found =
        run::compare_files(fs::path(options.a) / file, fs::path(options.b) / file);
    print(file.string(), found);
    if (equal) print_differences(found.differences);
    equal = equal && found.differences.empty();
  }
  return equal ? EXIT_SUCCESS : kExitDifferent;
}

// The code 1 means a difference, so errors have another one than elsewhere.
int verify(const VerifyOptions& options) try {
  for (const std::string& path : {options.a, options.b}) {
    if (!fs::exists(path)) throw Error(path + ": does not exist", "pass two run folders or two files");
  }
  const bool runs = fs::is_directory(options.a);
  if (runs != fs::is_directory(options.b)) {
    throw Error(fmt::format("{} is a run folder, but {} a file", runs ? options.a : options.b,
                            runs ? options.b : options.a),
                "pass two run folders or two files");
  }
  const int code = runs ? compare_two_runs(options) : compare_two_files(options);
  os::flush_standard_output();
  return code;
} catch (const std::exception& error) {
  mpi::Session::abort(error, kExitError);
}

}  // namespace

std::function<int()> add_verify(CLI::App& parser) {
  auto options = std::make_shared<VerifyOptions>();
  add_option(parser, "a", options->a, "A", "A run folder, or a model or checkpoint file")->required();
  add_option(parser, "b", options->b, "B", "The one to compare it with")->required();
  parser.footer(kVerifyHelp);
  return [options] { return verify(*options); };
}

}  // namespace convoke::app
