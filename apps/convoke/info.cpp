#include "info.hpp"

#include <fmt/format.h>

#include "convoke/core/text.hpp"
#include "convoke/doctor/examination.hpp"
#include "convoke/doctor/launcher.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/recipe/reference.hpp"
#include "convoke/run/environment.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::app {
namespace {

constexpr const char* kInfoExamples = R"(Examples:
  convoke info                                   this machine, one rank
  mpirun -n 4 convoke info                       which cores four ranks get
  mpirun -n 2 --map-by slot:PE=4 convoke info    two ranks with four cores each
  mpirun -n 2 convoke info --threads 8           would 8 threads a rank have cores?
)";

void line(const char* what, const std::string& value) { fmt::print("{:<18} {}\n", what, value); }

void print_placements(const run::Machine& machine, int requested) {
  fmt::print("\n{:>5}  {:<20} {:>7}  {}\n", "rank", "host", "threads", "cores");
  for (int rank = 0; rank < machine.ranks; ++rank) {
    const run::Machine seen = run::machine_of(machine.placements, rank);
    const run::Placement& placement = machine.placements[static_cast<std::size_t>(rank)];
    fmt::print("{:>5}  {:<20} {:>7}  {}\n", rank, placement.host, seen.threads_for(requested),
               os::format_ranges(placement.cores));
  }
}

}  // namespace

void add_info(CLI::App& parser, InfoOptions& options) {
  parser.add_option("--threads", options.threads, "Worker threads per rank; 0 shares the cores out")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  parser.add_flag(
      "--recipe-keys", options.recipe_keys,
      "Print instead every key of a recipe, as tables in Markdown: type, default, range, meaning");
  parser.footer(kInfoExamples);
}

int info(const InfoOptions& options) {
  if (options.recipe_keys) {
    fmt::print("{}", recipe::key_reference());
    return EXIT_SUCCESS;
  }

  // 1. Who runs where.
  mpi::Session session;
  const doctor::Binding binding = doctor::settle(session.world(), options.threads);
  const run::Machine& machine = binding.machine;
  if (!session.world().root()) return EXIT_SUCCESS;

  // 2. What was built, and with what.
  const nn::Backend backend = nn::backend();
  const std::string described = run::build_description();
  line("convoke", run::convoke_version() + (described.empty() ? "" : " (" + described + ")"));
  line("build", CONVOKE_BUILD_TYPE);
  line("oneDNN", backend.version);
  line("instruction set", backend.instruction_set);
  line("MPI", mpi::Session::library_version());
  line("processor", os::cpu_model());
  line("ranks", fmt::format("{} on {}", machine.ranks, counted(machine.nodes, "host")));

  // 3. Which cores each rank may use, and what would spoil a run.
  print_placements(machine, options.threads);
  if (!binding.mended.empty()) fmt::print("\n{}\n", binding.mended);
  std::vector<doctor::Finding> findings = doctor::judge_launcher(machine);
  for (const auto& judged :
       {doctor::judge_binding(binding, options.threads), doctor::judge_quota(machine, options.threads)}) {
    findings.insert(findings.end(), judged.begin(), judged.end());
  }
  const std::string warnings = doctor::short_text(findings);
  if (!warnings.empty()) fmt::print("\n{}", warnings);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
