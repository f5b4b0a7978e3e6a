#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "cluster/start.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/doctor/examination.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/stop_signals.hpp"
#include "convoke/recipe/job.hpp"
#include "convoke/recipe/run.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/equal_ranks.hpp"
#include "convoke/supervise/watchdog.hpp"
#include "convoke/train/ensemble.hpp"
#include "convoke/train/summary.hpp"
#include "data/dataset_for.hpp"
#include "results/models.hpp"
#include "results/results.hpp"
#include "training/ended_job.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

struct TrainOptions : RecipeOptions {
  std::string output;
  std::string run;  ///< from --resume RUN: the run to continue with its own recipe
  bool resume = false;
  bool ignore_doctor = false;  ///< continue if the doctor finds an error
  std::int64_t member = -1;    ///< the only member to train, counted from 0; -1: all members
  bool quiet = false;
};

constexpr const char* kTrainHelp = R"(Examples:
  convoke train mnist-sync                            one rank, all cores of this machine as threads
  mpirun -n 4 convoke train mnist-sync                one model; four ranks sum their gradients
  mpirun -n 4 convoke train mnist-ensemble            four members, each on its shard, then a vote
  convoke train mnist-sync --set train.epochs=2 --set train.reduction=exact
  convoke train my/recipe.toml --output runs/first    write the run into a folder of your choice
  convoke train --resume runs/first                   continue it, with its own recipe
  convoke train my/recipe.toml --output runs/first --resume
                                                      continue it, or start it (for jobs)
  convoke train mnist-ensemble --set ensemble.members=4 --member 0
                                                      one of four members, in a separate job

SIGTERM, SIGUSR1, SIGHUP and Ctrl-C end the run with a checkpoint and exit code 85.
)";

// Prints problems with ranks and binding in the words of `convoke doctor`, but without measurements. Throws
// Error for an error, unless it is to be ignored.
void consult_doctor(const doctor::Binding& binding, const recipe::Recipe& recipe, const TrainOptions& options,
                    const mpi::Communicator& world) {
  const std::vector<doctor::Finding> findings =
      doctor::examine({.world = world,
                       .binding = binding,
                       .threads = recipe.run.execution.threads,
                       .quick = true,
                       .runs = options.output.empty() ? "runs" : options.output});
  doctor::require_health(findings, options.ignore_doctor);
  if (!world.root()) return;
  if (!binding.fixed.empty()) fmt::print(stderr, "{}\n", binding.fixed);
  fmt::print(stderr, "{}", doctor::short_text(findings));
}

// Says what only the training loss includes (nn::Loss::of): it cannot be compared with the others then.
std::string loss_note(const train::Job& job, const data::Split& samples) {
  const Settings loss = job.model.loss->settings();
  std::vector<std::string> parts;
  if (number_at(loss, "label_smoothing") > 0) parts.emplace_back("label smoothing");
  if (!list_at(loss, "class_weights").empty()) parts.emplace_back("class weights");
  if (!samples.weights.empty()) parts.emplace_back("weights of samples");
  const auto penalized = [](const nn::Node& node) { return node.options.l1 != 0 || node.options.l2 != 0; };
  if (std::ranges::any_of(job.model.graph.nodes(), penalized)) {
    parts.emplace_back("penalties on weights (l1, l2)");
  }
  const std::string beside = parts.empty() ? "" : ", unlike the objectives beside them";
  if (job.augmenter != nullptr && job.augmenter->mixes()) parts.emplace_back("mixed samples");
  if (!job.loop.distill.teacher.empty()) parts.emplace_back("the predictions of the teacher");
  return parts.empty() ? ""
                       : fmt::format("training losses include {}; validation and test losses do not{}",
                                     join(parts), beside);
}

// Says how many worker threads the micro-batches keep busy. Warns if the job does not suit the ranks, or the
// samples do not fit into memory.
void describe_plan(const recipe::Run& run, int ranks, bool quiet) {
  const recipe::Recipe& recipe = run.recipe();
  const data::Dataset& dataset = run.dataset();
  const train::Job& job = run.job();
  const bool streamed = dataset.split(recipe.data.train_split).stream != nullptr;
  const std::vector<doctor::Finding> samples =
      doctor::check_dataset(data::stored_layout(dataset.file(), recipe.data.train_split), dataset.file(),
                            streamed, recipe.data.shuffle == "all");
  // A member that is trained in a separate job has all ranks, as if the other members had as many.
  if (recipe.ensemble.member >= 0) ranks *= static_cast<int>(job.ensemble.members);
  const std::vector<doctor::Finding> micro_batches =
      doctor::check_micro_batches(job, ranks, run.loaders().training.split().count());
  fmt::print(stderr, "{}{}", doctor::short_text(micro_batches), doctor::short_text(samples));
  for (const doctor::Finding& found : micro_batches) {
    if (quiet || found.severity >= doctor::Severity::kWarning) continue;
    fmt::print("micro-batches: {}{}{}\n", found.evidence, found.fix.empty() ? "" : "; ", found.fix);
  }
  if (streamed) fmt::print("data: {}\n", samples.front().evidence);
  for (const std::string& note : train::group_notes(job, run.loaders())) fmt::print("data: {}\n", note);
  for (const std::string& note : recipe.model.notes) fmt::print("note: {}\n", note);
  if (const auto& teacher = run.teacher()) {
    fmt::print("teacher: {}\n", describe(recipe.train.loop.distill.teacher, *teacher));
  }
  if (job.weights) fmt::print("weights: {}: {}\n", recipe.model.weights, job.weights->describe());
  for (const std::string& note : {recipe::normalization_note(recipe, job), recipe::frozen_note(job),
                                  loss_note(job, dataset.split(recipe.data.train_split))}) {
    if (!note.empty()) fmt::print("note: {}\n", note);
  }
}

struct DistillOptions : TrainOptions {
  train::Distillation distill;
};

constexpr const char* kDistillHelp = R"(Examples:
  convoke distill runs/votes                          one network like the members, by their recipe
  mpirun -n 4 convoke distill runs/votes small.toml --output runs/small
                                                      another network, on the same dataset
  convoke distill runs/votes --temperature 4 --weight 0.9 --set train.epochs=20

Continue an interrupted run with convoke train --resume RUN.
)";

// Returns the training that `given` describes: with the recipe of the teacher, but one model, or with another
// recipe.
TrainOptions student_of(const DistillOptions& given) {
  TrainOptions options = given;
  std::vector<std::string> changes;
  if (options.recipe.empty()) {
    if (!fs::exists(given.distill.teacher))
      throw Error(given.distill.teacher + ": no such file or folder", "name the model of the teacher");
    const fs::path beside = interop::find_model(given.distill.teacher).parent_path() / "recipe.toml";
    if (!fs::exists(beside)) {
      throw Error(fmt::format("{}: has no recipe.toml, which would describe the network to train",
                              given.distill.teacher),
                  "name a recipe: convoke distill MODEL RECIPE");
    }
    options.recipe = beside.string();
    changes = {"train.mode=sync", "ensemble.soups=[]", "model.weights=\"\""};
  }
  changes.push_back("train.distill=" + Value(given.distill.settings()).to_string());
  options.changes.insert(options.changes.begin(), changes.begin(), changes.end());
  return options;
}

// Returns the stored recipe and the folder of a run to resume.
TrainOptions resolve_resume(TrainOptions options) {
  const fs::path run = options.run;
  if (run.empty()) return options;
  if (!options.recipe.empty()) {
    throw Error(
        fmt::format("--resume {} uses the recipe that is stored in the run, but {} is given too", options.run,
                    options.recipe),
        "remove the recipe, and change keys with --set; or pass the folder with --output: convoke train "
        "RECIPE --output RUN --resume");
  }
  if (!options.output.empty() && fs::weakly_canonical(run) != fs::weakly_canonical(options.output)) {
    throw Error(fmt::format("--resume {} writes to the folder of that run, but --output is {}", options.run,
                            options.output),
                "remove --output");
  }
  if (!fs::exists(run / "recipe.toml")) {
    throw Error(fmt::format("{}: has no recipe.toml, so it is not a run that can be resumed", options.run),
                "pass a run folder, or start a run: convoke train RECIPE --output DIR --resume");
  }
  options.recipe = (run / "recipe.toml").string();
  options.output = options.run;
  return options;
}

// Returns a number of the fingerprint of a run's checkpoints; 0: there are none. Call it on one rank.
std::int64_t saved_number(const fs::path& run, std::string_view key) {
  for (const auto& [name, value] : run::saved_fingerprint(checkpoint_folders(run))) {
    if (name == key) return parse_number<std::int64_t>(value).value_or(0);
  }
  return 0;
}

// Gives a resumed ensemble that has one member for each rank as many members as it began with: there may be
// other ranks now. Its recipe counts if there is no checkpoint yet. Collective.
void keep_members(recipe::Recipe& recipe, const fs::path& run, const mpi::Communicator& world) {
  if (recipe.train.mode != "ensemble" || recipe.ensemble.members != 0) return;
  const std::int64_t members = mpi::on_root(world, [&]() -> std::int64_t {
    if (const std::int64_t saved = saved_number(run, "ensemble.members"); saved > 0) return saved;
    try {
      const recipe::Recipe stored = recipe::Recipe::load((run / "recipe.toml").string());
      return stored.train.mode == "ensemble" ? stored.ensemble.members : 0;
    } catch (const Error&) {  // the run has not begun, or its recipe is wrong, which it says itself
      return 0;
    }
  });
  if (members < 1 || members == world.size()) return;
  recipe.ensemble.members = members;
  if (world.root()) {
    fmt::print("note: {}, as when {} began; ensemble.members = \"ranks\" is now {}\n",
               counted(members, "member"), run.string(), world.size());
  }
}

// Gives a resumed run the micro-batch of its checkpoints if the recipe leaves it to Convoke: other versions
// may choose another one. Collective.
void keep_micro_batch(recipe::Recipe& recipe, const fs::path& run, const mpi::Communicator& world) {
  if (recipe.train.step.micro_batch != 0) return;
  const std::int64_t micro_batch =
      mpi::on_root(world, [&] { return saved_number(run, "train.micro_batch"); });
  const std::int64_t now = recipe.micro_batch();
  if (micro_batch < 1 || micro_batch == now || recipe.train.step.batch % micro_batch != 0) return;
  recipe.train.step.micro_batch = micro_batch;
  if (world.root()) {
    fmt::print(
        "note: micro-batches of {}, as in the checkpoints of {}; train.micro_batch = \"auto\" is now {}\n",
        counted(micro_batch, "sample"), run.string(), now);
  }
}

// Gives a resumed run at least the epochs that it has trained, as its summary and stored recipe state them.
// The fingerprint refuses another number if the schedule depends on it. Collective.
void keep_epochs(recipe::Recipe& recipe, const fs::path& run, const mpi::Communicator& world) {
  train::LoopOptions& loop = recipe.train.loop;
  if (loop.schedule->spans_training()) return;
  const std::int64_t trained =
      mpi::on_root(world, [&] { return run::epochs_saved(checkpoint_folders(run)); });
  if (trained <= loop.epochs) return;
  if (world.root()) {
    fmt::print("note: {} has already trained {}, so train.epochs = {} has no effect\n", run.string(),
               counted(trained, "epoch"), loop.epochs);
  }
  loop.epochs = trained;
}

// If checkpoints could not be written: where the newest ones are, a line for each member.
std::string newest_checkpoints(const train::Job& job, const run::RunFolder& folder, const train::Cost& cost) {
  std::string text;
  for (std::int64_t member = 0; cost.checkpoints.failed > 0 && member < job.ensemble.members; ++member) {
    const fs::path file = train::checkpoints_of(job, folder, member).newest_file();
    text +=
        fmt::format("newest checkpoint{}: {}\n", job.is_ensemble ? fmt::format(" of member {}", member) : "",
                    file.empty() ? "none" : file.string());
  }
  return text;
}

int stopped(run::StopReason reason, const run::RunFolder& folder, const mpi::Communicator& world) {
  if (world.root()) {
    fmt::print("Stopped by {}, with a checkpoint; continue with: convoke train --resume {}\n",
               reason.to_string(), shell_word(folder.path().string()));
  }
  return run::kExitRequeue;
}

// Trains one model with all ranks, or an ensemble whose members vote. Returns EXIT_SUCCESS, or kExitRequeue
// if a signal stopped it at a checkpoint.
int train(const TrainOptions& given) {
  const double seconds_before = seconds_since_start();

  // 1. The recipe, with the changes of the command line, checked as a whole.
  const TrainOptions options = resolve_resume(given);
  if (!options.output.empty()) supervise::forget_stall(options.output);
  std::vector<std::string> changes = options.changes;
  if (options.member >= 0) changes.push_back(fmt::format("ensemble.member={}", options.member));
  std::optional<recipe::Recipe> here = recipe::Recipe::load_if_here(options.recipe, changes);
  mpi::Session session;
  const mpi::Communicator& world = session.world();
  run::require_equal_programs(world);
  recipe::Recipe recipe = recipe::Recipe::of_root(std::move(here), options.recipe, changes, world);
  if (options.resume) {
    keep_members(recipe, options.output, world);
    keep_micro_batch(recipe, options.output, world);
    keep_epochs(recipe, options.output, world);
  }

  // 2. The ranks, threads and bindings; one line for each problem. A rank that hangs is noticed from here on.
  os::StopSignals signals;
  auto watchdog = supervise::Watchdog::beside(
      options.output.empty() ? fs::path("runs") / recipe.name : fs::path(options.output),
      recipe.run.stall_timeout, "start the job again; set run.stall_timeout to wait longer", world);
  const doctor::Binding binding = doctor::fix_binding(world, recipe.run.execution.threads);
  consult_doctor(binding, recipe, options, world);

  // 3. The samples (one copy per node), and a check that the job can be trained on them.
  recipe.data.path = dataset_for(recipe, world).string();
  world.barrier();
  recipe::Run run(std::move(recipe), world, binding.machine);
  if (world.root()) describe_plan(run, world.size(), options.quiet);

  // 4. Train, gather, vote, compute the verdict. A member that fails or stops early does not end the job.
  const run::RunFolder folder = run::RunFolder::create(run.job().name, options.output, options.resume, world);
  if (!folder.taken_over().empty())
    fmt::print("{}: took over the lock of {}, which has ended\n", folder.path().string(),
               folder.taken_over());
  const recipe::Outcome outcome = run.train(folder, options.resume, options.quiet,
                                            seconds_before - session.init_seconds(), std::move(watchdog));
  if (outcome.interrupted_by) return stopped(outcome.interrupted_by, folder, world);

  // 5. Print the results.
  mpi::on_root(world, [&] {
    write_page(folder, run.recipe());
    fmt::print("{}\n{}{}{}", train::summary_text(run.job(), *outcome.verdict, outcome.cost),
               data::provenance_note(outcome.provenance), newest_checkpoints(run.job(), folder, outcome.cost),
               places_of(folder));
  });
  signals.ignore_after();
  return EXIT_SUCCESS;
}

void add_output(CLI::App& parser, TrainOptions& options) {
  add_option(parser, "--output", options.output, "FOLDER",
             "The folder of the run; runs/NAME-TIME by default");
}

void add_manners(CLI::App& parser, TrainOptions& options) {
  parser.add_flag("--ignore-doctor", options.ignore_doctor,
                  "Train despite errors in how the ranks are started or bound, as convoke doctor finds them");
  parser.add_flag("--quiet", options.quiet, "Print only the summary, no progress");
}

}  // namespace

std::function<int()> add_distill(CLI::App& parser) {
  auto options = std::make_shared<DistillOptions>();
  add_model(parser, options->distill.teacher);
  add_recipe_options(parser, *options);
  parser.get_option("recipe")->required(false)->description(
      "The recipe of the network to train; by default that of the model's run, but one model");
  add_option(parser, "--temperature", options->distill.temperature, "T",
             "Divide the outputs of teacher and student by T: the larger, the softer")
      ->check(positive())
      ->capture_default_str();
  add_option(parser, "--weight", options->distill.weight, "W",
             "The weight of the teacher's part of the loss; the labels have the rest")
      ->check(in_range(0, 1))
      ->capture_default_str();
  add_output(parser, *options);
  add_manners(parser, *options);
  parser.footer(kDistillHelp);
  return [options] { return train(student_of(*options)); };
}

std::function<int()> add_train(CLI::App& parser) {
  auto options = std::make_shared<TrainOptions>();
  add_recipe_options(parser, *options);
  parser.get_option("recipe")->required(false);
  add_output(parser, *options);
  parser
      .add_option_function<std::string>(
          "--resume",
          [options](const std::string& run) {
            options->resume = true;
            if (run != "auto") options->run = run;
          },
          "Continue RUN from its newest checkpoint, with the recipe stored in it. Without RUN: continue the "
          "run in --output, or start a new run if there is none")
      ->expected(0, 1)
      ->type_name("[RUN]");
  parser.final_callback([options] {
    if (options->resume && options->run.empty() && options->output.empty()) {
      throw CLI::ValidationError("--resume", "needs a run folder: --resume RUN, or --output RUN --resume");
    }
    if (options->recipe.empty() && options->run.empty()) throw CLI::RequiredError("RECIPE");
  });
  add_option(parser, "--member", options->member, "K",
             "Train only member K of an ensemble, counted from 0; convoke gather combines such runs")
      ->check(in_range(0, 1e6).description(""));
  add_manners(parser, *options);
  parser.footer(kTrainHelp);
  return [options] { return train(*options); };
}

}  // namespace convoke::app
