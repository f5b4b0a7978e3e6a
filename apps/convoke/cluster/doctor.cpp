#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "cli/options.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "convoke/doctor/examination.hpp"
#include "convoke/doctor/processor.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/memory.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/recipe/job.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/train/fit.hpp"

namespace convoke::app {
namespace {

struct DoctorOptions : RecipeOptions {
  std::string output = "runs";
  int threads = 0;  ///< per rank; 0: the recipe's, or auto
  bool quick = false;
  bool json = false;
};

constexpr const char* kDoctorHelp = R"(Examples:
  convoke doctor                                 one rank with all cores of this machine
  mpirun -n 4 convoke doctor                     check four ranks: cores, links, clocks, memory
  mpirun -n 4 convoke doctor mnist-sync          also check that this recipe suits them
  mpirun -n 2 convoke doctor --threads 8 --quick
                                                 cores for 8 threads of each rank; measures nothing
  mpirun -n 4 convoke doctor my/recipe.toml --json

Exit codes:
  0    nothing, or only notes
  3    warnings
  4    errors, with which convoke train refuses to start
)";

/// A job of a recipe, as `convoke train` makes it, but without reading the samples.
class PlannedJob {
 public:
  /// Throws Error as training would.
  PlannedJob(const recipe::Recipe& recipe, const std::filesystem::path& path, int threads,
             const mpi::Communicator& world)
      : dataset_(data::Dataset::open(path, recipe.data.training_splits(), data::private_storage(0))),
        job_(job_from(recipe, dataset_, threads, world.size())),
        loader_(dataset_.split(recipe.data.train_split), job_.model.graph.input_shape(),
                job_.model.normalization, job_.augmenter) {
    train::require_split(dataset_.info(), dataset_.file(), recipe.data.test_split);
    // Without agreement: each rank checks alone, and the file may be on the host of rank 0 only.
    if (std::filesystem::exists(recipe.model.weights)) {
      job_.weights = std::make_shared<const run::InitialWeights>(
          interop::read_weights(recipe.model.weights, job_.model.graph,
                                {.zoo = recipe.model.zoo, .partial = recipe.model.partial}));
    }
    if (!recipe.data.validation_name.empty()) {
      validation_.emplace(job_.model.loader(dataset_.split(recipe.data.validation_name)));
    }
  }

  /// Collective.
  doctor::Demand demand(const recipe::Recipe& recipe, const train::Groups& groups) {
    loaders_.emplace(loader_, validation_ ? &*validation_ : nullptr);
    const data::StoredLayout layout = data::stored_layout(dataset_.file(), recipe.data.train_split);
    const std::uint64_t budget = recipe.data.memory > 0 ? recipe.data.memory : os::available_bytes() / 2;
    return {.job = job_,
            .loaders = *loaders_,
            .groups = groups,
            .dataset = dataset_.file(),
            .layout = layout,
            .streamed = layout.bytes > budget,
            .shuffles_all = recipe.data.shuffle == "all"};
  }
  const train::Job& job() const { return job_; }

 private:
  data::Dataset dataset_;
  train::Job job_;
  data::BatchLoader loader_;
  std::optional<data::BatchLoader> validation_;
  std::optional<train::DataLoaders> loaders_;
};

// The problems of recipe and dataset on all ranks, as findings. Each text appears once, with its first host.
std::vector<doctor::Finding> complaints(const std::string& mine, const std::string& hint,
                                        const mpi::Communicator& world) {
  const std::vector<std::string> all = world.gather(mine);
  const std::vector<std::string> hosts = world.gather(os::host_name());
  const std::vector<std::string> hints = world.gather(hint);
  std::vector<doctor::Finding> found;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const bool told = std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rank),
                                  [&](const std::string& other) { return other == all[rank]; });
    if (all[rank].empty() || told) continue;
    found.push_back({.severity = doctor::Severity::kError,
                     .subject = "recipe",
                     .evidence = fmt::format("{}: {}", hosts[rank], all[rank]),
                     .fix = hints[rank]});
  }
  return found;
}

struct Examined {
  int threads = 0;  ///< requested per rank; 0: auto
  doctor::Binding binding;
  std::vector<doctor::Finding> findings;  ///< those of the recipe only at the root
};

Examined examine(const DoctorOptions& options, const std::optional<recipe::Recipe>& recipe,
                 const mpi::Communicator& world) {
  const int threads = options.threads > 0 || !recipe ? options.threads : recipe->run.execution.threads;
  Examined examined{.threads = threads, .binding = doctor::fix_binding(world, threads), .findings = {}};
  doctor::Context context{.world = world,
                          .binding = examined.binding,
                          .threads = threads,
                          .quick = options.quick,
                          .runs = options.output};
  std::optional<PlannedJob> planned;
  std::vector<doctor::Finding> unfit;
  if (recipe) {
    std::string wrong, hint, source;
    try {
      const std::filesystem::path path = recipe::resolve_dataset(*recipe);
      if (data_prep::is_source(path)) {
        source = path.string();
      } else {
        planned.emplace(*recipe, path, examined.binding.machine.threads_for(threads), world);
      }
    } catch (const Error& error) {
      wrong = error.what(), hint = error.hint();
    }
    unfit = complaints(wrong, hint, world);
    if (world.root() && !source.empty()) {
      unfit.push_back({.severity = doctor::Severity::kWarning,
                       .subject = "recipe",
                       .evidence = source + ": a source of samples, which training prepares first; without "
                                            "a dataset the recipe is not checked",
                       .fix = fmt::format("convoke prepare {} --output FILE.h5, and data.path = \"FILE.h5\"",
                                          shell_word(source))});
    }
    if (mpi::any_of(world, !planned)) planned.reset();
  }
  if (planned) {
    const train::Groups groups =
        train::split(world, planned->job().ensemble.members, planned->job().ensemble.ranks);
    const doctor::Demand demand = planned->demand(*recipe, groups);
    context.demand = &demand;
    examined.findings = doctor::examine(context);
  } else {
    examined.findings = doctor::examine(context);
  }
  examined.findings.insert(examined.findings.end(), unfit.begin(), unfit.end());
  return examined;
}

// Looks at ranks, hosts and, with a recipe, at what it asks of them. Returns doctor::exit_code.
int doctor(const DoctorOptions& options) {
  // 1. The recipe, if one is named.
  std::optional<recipe::Recipe> recipe;
  if (!options.recipe.empty()) recipe = recipe::Recipe::load(options.recipe, options.changes);
  mpi::Session session;
  const mpi::Communicator& world = session.world();

  // 2. Examine the machine and the recipe.
  const Examined examined = examine(options, recipe, world);
  const run::Machine& machine = examined.binding.machine;
  const int threads = examined.threads;
  const doctor::Topology topology = doctor::gather_topology(machine, world);

  // 3. Print the findings. All ranks end with the same code.
  const std::vector<doctor::Finding>& findings = examined.findings;
  const std::string worst(to_string(doctor::worst(findings)));
  if (world.root() && options.json) {
    Value::Array ranks;
    for (int rank = 0; rank < machine.ranks; ++rank) {
      const run::Placement& placement = machine.placements[static_cast<std::size_t>(rank)];
      ranks.emplace_back(Settings{{"rank", rank},
                                  {"host", placement.host},
                                  {"cores", os::format_ranges(placement.cores)},
                                  {"threads", machine.threads_of(rank, threads)}});
    }
    fmt::print("{}\n", metrics::to_json({{"worst", worst},
                                         {"mpi", mpi::Session::library_version()},
                                         {"ranks", ranks},
                                         {"findings", doctor::to_values(findings)}}));
  } else if (world.root()) {
    fmt::print("{}\n{}", doctor::binding_map(machine, topology, threads), doctor::to_text(findings));
  }
  const std::int64_t code = world.root() ? doctor::exit_code(doctor::worst(findings)) : 0;
  if (const std::int64_t of_all = mpi::sum_of(world, code); of_all != EXIT_SUCCESS) {
    session.end(static_cast<int>(of_all));
  }
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_doctor(CLI::App& parser) {
  auto options = std::make_shared<DoctorOptions>();
  add_recipe_options(parser, *options);
  parser.get_option("recipe")->required(false);
  add_option(parser, "--output", options->output, "FOLDER", "The folder for runs, which is checked too")
      ->capture_default_str();
  add_threads(parser, options->threads);
  parser.add_flag("--quick", options->quick, "Measure nothing: no messages, clocks or disks");
  parser.add_flag("--json", options->json, "Print the findings as JSON");
  parser.footer(kDoctorHelp);
  return [options] { return doctor(*options); };
}

}  // namespace convoke::app
