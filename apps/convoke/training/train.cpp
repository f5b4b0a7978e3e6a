#include "commands.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "cli/options.hpp"
#include "cluster/start.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/provenance.hpp"
#include "convoke/data/stored_layout.hpp"
#include "convoke/doctor/examination.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/stop_signals.hpp"
#include "convoke/run/collective.hpp"
#include "convoke/run/environment.hpp"
#include "convoke/run/job_time.hpp"
#include "convoke/run/node_storage.hpp"
#include "convoke/train/fit.hpp"
#include "convoke/train/summary.hpp"
#include "data/dataset_for.hpp"
#include "results/results.hpp"
#include "training/job.hpp"

namespace convoke::app {
namespace {

struct TrainOptions : RecipeOptions {
  std::string output;
  bool resume = false;
  bool ignore_doctor = false;  ///< go on where the doctor finds an error
  std::int64_t member = -1;    ///< the only one to train, from 0; -1: all of them
  bool quiet = false;
};

constexpr const char* kTrainHelp = R"(Examples:
  convoke train mnist-sync                            one rank, all cores of this machine as threads
  mpirun -n 4 convoke train mnist-sync                one model; four ranks sum their gradients
  mpirun -n 4 convoke train mnist-ensemble            four members, each on its shard, then a vote
  convoke train mnist-sync --set train.epochs=2 --set train.reduction=exact
  convoke train my/recipe.toml --output runs/first    write the run into a folder of your choice
  convoke train my/recipe.toml --output runs/first --resume
                                                      continue from its newest checkpoint
  convoke train mnist-ensemble --set ensemble.members=4 --member 0
                                                      one of four members, in a job of its own

SIGTERM, SIGUSR1 and Ctrl-C end the run with a checkpoint and exit code 85.
)";

// What would spoil the run, in the words of `convoke doctor`, but without measuring; nothing if all is well.
// An error is thrown, unless it is to be ignored.
void consult_doctor(const doctor::Binding& binding, const recipe::Recipe& recipe, const TrainOptions& options,
                    const mpi::Communicator& world) {
  const std::vector<doctor::Finding> findings =
      doctor::examine({.world = world,
                       .binding = binding,
                       .threads = recipe.run.threads,
                       .quick = true,
                       .runs = options.output.empty() ? "runs" : options.output});
  doctor::require_health(findings, options.ignore_doctor);
  if (!world.root()) return;
  if (!binding.fixed.empty()) fmt::print(stderr, "{}\n", binding.fixed);
  fmt::print(stderr, "{}", doctor::short_text(findings));
}

// The same of how the job suits the ranks, and the samples the memory.
void judge_plan(const train::Job& job, const recipe::Recipe& recipe, const data::Dataset& dataset,
                int ranks) {
  const bool streamed = dataset.split(recipe.data.train_split).stream != nullptr;
  const std::vector<doctor::Finding> samples =
      doctor::judge_dataset(data::stored_layout(dataset.file(), recipe.data.train_split), dataset.file(),
                            streamed, recipe.data.shuffle == "all");
  fmt::print(stderr, "{}{}", doctor::short_text(doctor::judge_lanes(job, ranks)),
             doctor::short_text(samples));
  if (streamed) fmt::print("data: {}\n", samples.front().evidence);
}

// A member's seed and share of the samples depend on how many members there are.
void require_count_of_members(const recipe::Recipe& recipe, const TrainOptions& options) {
  if (recipe.train.mode != "ensemble") {
    throw Error(fmt::format("--member {}: {} trains one synchronous model", options.member, recipe.name),
                "leave --member out, or train an ensemble: --set train.mode=ensemble");
  }
  if (recipe.ensemble.members == 0) {
    throw Error(
        fmt::format("--member {}: {} has as many members as there are ranks, so nobody knows of how many "
                    "this is one",
                    options.member, recipe.name),
        "say how many there are in all, as --set ensemble.members=4");
  }
}

// When the batch system ends this job, as rank 0 is told: it is asked once.
run::Deadline end_of_job(const mpi::Communicator& world) {
  const std::string seconds = run::on_root(world, [] {
    const std::optional<double> left = run::slurm_seconds_left();
    return left ? fmt::format("{}", *left) : std::string();
  });
  return seconds.empty() ? std::nullopt : run::in_seconds(std::stod(seconds));
}

// Tokens that the model does not know are found before the first step, also those of the test samples, which
// are read after training.
void require_known_tokens(const recipe::Recipe& recipe, const train::Job& job, const data::Dataset& dataset,
                          const mpi::Communicator& world) {
  const nn::Graph& graph = job.model.graph;
  train::require_vocabulary(graph, job.name, dataset, recipe.data.train_split);
  if (!recipe.data.validation_name.empty()) {
    train::require_vocabulary(graph, job.name, dataset, recipe.data.validation_name);
  }
  run::on_root(world, [&] {
    train::require_vocabulary(graph, job.name, dataset.info(), dataset.file(), recipe.data.test_split);
    return std::string();
  });
}

int stopped(run::StopReason reason, const run::RunFolder& folder, const TrainOptions& options,
            const mpi::Communicator& world) {
  if (world.root()) {
    fmt::print("Stopped by {}, with a checkpoint; go on with: convoke train {}{} --output {} --resume\n",
               reason.to_string(), options.recipe,
               options.member < 0 ? "" : fmt::format(" --member {}", options.member), folder.path().string());
  }
  return run::kExitRequeue;
}

// Trains one model with all ranks, or an ensemble whose members vote. Returns EXIT_SUCCESS, or kExitRequeue
// when a signal has stopped it at a checkpoint.
int train(const TrainOptions& options) {
  const double seconds_before = seconds_since_start();
  run::Phases phases;

  // 1. What to do: the recipe, with the command line's changes, checked as a whole.
  recipe::Recipe recipe = recipe::Recipe::load(options.recipe, options.changes);

  if (options.member >= 0) require_count_of_members(recipe, options);

  // 2. Who we are: ranks, threads, binding; a line for each thing that would spoil the run.
  mpi::Session session;
  const mpi::Communicator& world = session.world();
  const os::StopSignals signals;
  const doctor::Binding binding = doctor::settle(world, recipe.run.threads);
  const run::Machine& machine = binding.machine;
  consult_doctor(binding, recipe, options, world);
  world.barrier();
  const os::Stopwatch makespan;

  // 3. What to learn from: one copy of the samples per node.
  const mpi::Communicator node = world.split_node();
  run::NodeStorage training_memory(node, recipe.data.memory);
  recipe.data.path = dataset_for(recipe, world).string();
  const data::Dataset dataset = [&] {
    const os::Timed timed(phases.load);
    std::vector<std::string> splits{recipe.data.train_split};
    if (!recipe.data.validation_name.empty()) splits.push_back(recipe.data.validation_name);
    return data::Dataset::open(recipe.data.path, splits, training_memory.storage());
  }();
  train::Job job = job_from(recipe, dataset, machine.threads_for(recipe.run.threads), world.size());
  job.job_end = end_of_job(world);
  job.deadline = run::deadline_before(job.job_end, recipe.run.stop_before);
  require_known_tokens(recipe, job, dataset, world);
  if (world.root()) {
    // A member that is trained alone has all ranks, as if there were so many for each of the others.
    const int ranks = options.member < 0 ? world.size() : world.size() * static_cast<int>(job.members);
    judge_plan(job, recipe, dataset, ranks);
    if (job.weights) fmt::print("weights: {}: {}\n", recipe.model.weights, job.weights->describe());
  }

  // 4. Who trains together: one group per member (one group of all ranks when synchronous); and whether they
  // can, which is better known before the first step.
  const train::Groups groups =
      options.member < 0 ? train::split(world, job.members) : train::only(world, options.member, job.members);
  const auto loader_of = [&](const data::Split& split) {
    return data::BatchLoader(split, job.model.graph.input_shape(), job.model.normalization);
  };
  const data::BatchLoader loader(dataset.split(recipe.data.train_split), job.model.graph.input_shape(),
                                 job.model.normalization, job.augmenter);
  std::optional<data::BatchLoader> validation;
  if (!recipe.data.validation_name.empty()) {
    validation.emplace(loader_of(dataset.split(recipe.data.validation_name)));
  }
  const train::Feed feed(loader, validation ? &*validation : nullptr);
  const std::uint64_t predicted_bytes = [&] {
    const os::Timed timed(phases.load);
    return train::require_trainable(job, feed, groups, world);
  }();

  // 5. Train. A member that fails leaves the vote, never the job.
  const run::RunFolder folder = run::RunFolder::create(job.name, options.output, options.resume, world);
  if (!folder.taken_over().empty())
    fmt::print("{}: the lock of {}, which has ended, is taken over\n", folder.path().string(),
               folder.taken_over());
  run::describe_run(folder, job.recipe, machine, job.engine.threads, world);
  train::Training training =
      train::train_members(job, feed, groups, world, folder, options.resume, options.quiet, phases);
  if (training.interrupted_by) return stopped(training.interrupted_by, folder, options, world);

  // 6. Gather, vote, judge.
  run::NodeStorage test_memory(node, recipe.data.memory);
  const data::Dataset test = [&] {
    const os::Timed timed(phases.load);
    return data::Dataset::open(recipe.data.path, {recipe.data.test_split}, test_memory.storage());
  }();
  const data::BatchLoader test_loader = loader_of(test.split(recipe.data.test_split));
  const train::Verdict verdict =
      train::convene(job, std::move(training), groups, world, test_loader, folder, phases);
  world.barrier();
  phases.first_step += seconds_before - session.init_seconds();
  const train::Cost cost =
      train::cost_of(makespan.seconds(), machine, recipe.run.threads, phases, world, predicted_bytes);

  // 7. Say it.
  run::on_root(world, [&] {
    write_results(folder, train::summary(job, verdict, cost), verdict, test, recipe);
    fmt::print("{}\n{}{}", train::summary_text(job, verdict, cost),
               data::provenance_note(test.info().provenance), places_of(folder));
    return std::string();
  });
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_train(CLI::App& parser) {
  auto options = std::make_shared<TrainOptions>();
  add_recipe_options(parser, *options);
  CLI::Option* output =
      parser.add_option("--output", options->output, "The folder of the run; runs/NAME-TIME by default")
          ->type_name("FOLDER");
  parser
      .add_option_function<std::string>(
          "--resume", [options](const std::string&) { options->resume = true; },
          "Continue from the newest checkpoint in --output, or begin if there is none")
      ->expected(0, 1)
      ->type_name("[auto]")
      ->check(CLI::IsMember({"", "auto"}).description(""))
      ->needs(output);
  parser.add_flag("--ignore-doctor", options->ignore_doctor,
                  "Train despite errors in how the ranks are started or bound, as convoke doctor finds them");
  parser
      .add_option("--member", options->member,
                  "Train only member K of an ensemble, counted from 0; convoke gather combines such runs")
      ->check(CLI::NonNegativeNumber)
      ->type_name("K");
  parser.add_flag("--quiet", options->quiet, "Print only the summary, no progress");
  parser.footer(kTrainHelp);
  return [options] { return train(*options); };
}

}  // namespace convoke::app
