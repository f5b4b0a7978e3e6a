#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include "convoke/core/text.hpp"
#include "convoke/doctor/binding.hpp"
#include "convoke/doctor/examination.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/run/environment.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::app {
namespace {

struct InfoOptions {
  int threads = 0;             ///< per rank; 0: auto
  bool recipe_keys = false;    ///< print the tables of all recipe keys instead
  bool model_formats = false;  ///< print the operators and layers of model formats instead
};

constexpr const char* kInfoHelp = R"(Examples:
  convoke info                                   one rank on this machine
  mpirun -n 4 convoke info                       the cores of four ranks
  mpirun -n 2 --map-by slot:PE=4 convoke info    two ranks with four cores each
  mpirun -n 2 convoke info --threads 8           are there cores for 8 threads of each rank?
)";

void line(const char* what, const std::string& value) { fmt::print("{:<18} {}\n", what, value); }

void print_placements(const run::Machine& machine, int requested) {
  fmt::print("\n{:>5}  {:<20} {:>7}  {}\n", "rank", "host", "threads", "cores");
  for (int rank = 0; rank < machine.ranks; ++rank) {
    const run::Placement& placement = machine.placements[static_cast<std::size_t>(rank)];
    fmt::print("{:>5}  {:<20} {:>7}  {}\n", rank, placement.host, machine.threads_of(rank, requested),
               os::format_ranges(placement.cores));
  }
}

int info(const InfoOptions& options) {
  if (options.recipe_keys) {
    fmt::print("{}", recipe::key_reference());
    return EXIT_SUCCESS;
  }

  if (options.model_formats) {
    fmt::print("{}", interop::layer_reference());
    return EXIT_SUCCESS;
  }

  // 1. Where each rank runs.
  mpi::Session session;
  const doctor::Binding binding = doctor::fix_binding(session.world(), options.threads);
  const run::Machine& machine = binding.machine;
  if (!session.world().root()) return EXIT_SUCCESS;

  // 2. The build and its libraries.
  const nn::Backend backend = nn::backend();
  const std::string described = run::build_description();
  line("convoke", run::convoke_version() + (described.empty() ? "" : " (" + described + ")"));
  line("build", run::build_type());
  line("oneDNN", backend.version);
  line("instruction set", backend.instruction_set);
  line("MPI", mpi::Session::library_version());
  if (const std::string model = os::cpu_model(); !model.empty()) line("processor", model);
  line("ranks", fmt::format("{} on {}", machine.ranks, counted(machine.nodes, "host")));

  // 3. The cores of each rank, and problems with them.
  print_placements(machine, options.threads);
  if (!binding.fixed.empty()) fmt::print("\n{}\n", binding.fixed);
  std::vector<doctor::Finding> findings = doctor::check_launcher(machine);
  for (const auto& found :
       {doctor::check_binding(binding, options.threads), doctor::check_quota(machine, options.threads)}) {
    findings.insert(findings.end(), found.begin(), found.end());
  }
  const std::string warnings = doctor::short_text(findings);
  if (!warnings.empty()) fmt::print("\n{}", warnings);
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_info(CLI::App& parser) {
  auto options = std::make_shared<InfoOptions>();
  add_threads(parser, options->threads);
  parser.add_flag("--recipe-keys", options->recipe_keys,
                  "Print every key of a recipe instead, as Markdown tables: type, default, range, meaning");
  parser.add_flag("--model-formats", options->model_formats,
                  "Print the operators and layers that import and export know instead, as Markdown");
  parser.footer(kInfoHelp);
  return [options] { return info(*options); };
}

}  // namespace convoke::app
