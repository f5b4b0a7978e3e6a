#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cluster/start.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/data_prep/preparation.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/recipe/job.hpp"
#include "convoke/recipe/run.hpp"
#include "convoke/run/environment.hpp"
#include "convoke/run/node_memory.hpp"
#include "convoke/supervise/watchdog.hpp"
#include "convoke/train/gathering.hpp"
#include "convoke/train/summary.hpp"
#include "convoke/vote/soup.hpp"
#include "results/results.hpp"

namespace convoke::app {
namespace {

struct GatherOptions {
  std::vector<std::string> runs;
  std::string output;
  bool partial = false;
};

namespace fs = std::filesystem;

constexpr const char* kGatherHelp = R"(Examples:
  convoke train mnist-ensemble --set ensemble.members=2 --member 0 --output runs/m0    in one job
  convoke train mnist-ensemble --set ensemble.members=2 --member 1 --output runs/m1    in another
  convoke gather runs/m0 runs/m1 --output runs/both                                    when both end
)";

/// The cost of a run, as its summary.json states it.
struct Spent {
  std::int64_t ranks = 0, threads = 0, all_threads = 0, cores = 0;
  double makespan = 0, core_seconds = 0, images_per_second = 0, peak_rss_mib = 0;
  double other_programs = std::numeric_limits<double>::quiet_NaN();  // NaN: not measured
  bool resumed = false;  // the times of a run are only those since it was resumed

  // Adds a run that was made at the same time.
  void add(const Spent& other) {
    ranks += other.ranks;
    threads = std::max(threads, other.threads);
    all_threads += other.all_threads;
    cores += other.cores;
    makespan = std::max(makespan, other.makespan);
    core_seconds += other.core_seconds;
    images_per_second += other.images_per_second;
    peak_rss_mib = std::max(peak_rss_mib, other.peak_rss_mib);
    other_programs = std::fmax(other_programs, other.other_programs);
    resumed = resumed || other.resumed;
  }
};

// A run writes recipe.toml first; only one that joins the vote must have it.
void require_run(const fs::path& folder, bool joins) {
  const bool exists = fs::is_directory(folder);
  if (exists && (!joins || fs::exists(folder / "recipe.toml"))) return;
  throw Error(fmt::format("{}: {}", folder.string(),
                          exists ? "has no recipe.toml, so it is not a run folder" : "is not a run folder"),
              "pass the folders of finished runs");
}

// A run writes summary.json last.
Settings summary_of(const fs::path& run) {
  const std::optional<Settings> summary = metrics::read_json(run / "summary.json");
  if (!summary) {
    throw Error(fmt::format("{}: this run is not finished: it has no summary.json", run.string()),
                fmt::format("resume it with `convoke train --resume {}`, or vote without it: --partial",
                            shell_word(run.string())));
  }
  return *summary;
}

Spent spent_by(const fs::path& run, const Settings& summary) {
  const auto number = [&](const char* key) -> double {
    if (const double value = number_at(summary, key); !std::isnan(value)) return value;
    throw Error(fmt::format("{}: the number \"{}\" is missing", (run / "summary.json").string(), key),
                "another version of Convoke may have written it");
  };
  Spent spent{.ranks = std::llround(number("ranks")),
              .threads = std::llround(number("threads")),
              .makespan = number("makespan_seconds"),
              .core_seconds = number("core_seconds"),
              .images_per_second = number("images_per_second"),
              .peak_rss_mib = number("peak_rss_mib")};
  spent.all_threads = std::llround(number("all_threads"));
  spent.cores = std::llround(number("cores"));
  spent.other_programs = number_at(summary, "other_programs");
  spent.resumed = summary.find("resumed") != nullptr;
  return spent;
}

bool is_finished(const fs::path& run) { return fs::exists(run / "summary.json"); }

// One recipe on one dataset must have trained all members; they may have run on different machines.
void require_one_recipe(const std::vector<std::string>& runs, const data::Dataset& dataset, int threads) {
  const auto load = [](const std::string& run) {
    return recipe::Recipe::load((fs::path(run) / "recipe.toml").string());
  };
  const recipe::Recipe first = load(runs.front());
  const auto values_of = [&](const recipe::Recipe& recipe) {
    run::Fingerprint values = job_from(recipe, dataset, threads, 1).fingerprint;
    values.emplace_back("train.epochs", std::to_string(recipe.train.loop.epochs));
    return values;
  };
  const run::Fingerprint expected = values_of(first);
  for (const std::string& run : runs) {
    const recipe::Recipe other = load(run);
    const fs::path path = recipe::resolve_dataset(other);
    if (path != dataset.file() &&
        data::inspect(path, {other.data.test_split}).content_hash != dataset.info().content_hash) {
      throw Error(fmt::format("{} was trained on other samples than {}: {} and {}", run, runs.front(),
                              path.string(), dataset.file().string()),
                  "pass runs of one recipe on one dataset");
    }
    const std::vector<std::string> differing =
        differences(expected, values_of(other), "in one", "in the other");
    if (differing.empty()) continue;
    throw Error(fmt::format("{} and {} are members of different ensembles: {}", runs.front(), run,
                            join(differing, "; ")),
                "pass runs of one recipe");
  }
}

// A folder for files without a name: the output folder is made only when the runs are known to fit together.
fs::path scratch_of(const GatherOptions& options) {
  fs::path folder = fs::absolute(options.output);
  while (!fs::is_directory(folder)) folder = folder.parent_path();
  return folder;
}

// Throws Error if the folder has a file that an interrupted gather does not leave.
void require_unused(const fs::path& folder) {
  constexpr std::array kOurs{"ensemble.h5",   "recipe.toml",     "environment.json",
                             "metrics.jsonl", "evaluation.json", "lock"};
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    const std::string name = entry.path().filename().string();
    const bool ours = std::ranges::find(kOurs, name) != kOurs.end() || name.starts_with("soup-");
    if (!ours && !os::is_temporary(entry.path())) {
      throw Error(fmt::format("{}: is not empty, and run folders are never overwritten", folder.string()),
                  "choose another --output");
    }
  }
}

// Reuses a folder left by an interrupted gather: all files in it can be made again. Another gather may have
// begun and ended before this one has the lock.
run::RunFolder folder_for(const GatherOptions& options, const mpi::Communicator& world) {
  mpi::on_root(world, [&] { require_unused(options.output); });
  run::RunFolder folder = run::RunFolder::create("", options.output, true, world);
  mpi::on_root(world, [&] {
    require_unused(options.output);
    std::error_code missing;
    fs::remove(folder.metrics(), missing);
  });
  return folder;
}

// Makes one ensemble from members that were trained in separate jobs, with its vote on the test samples.
int gather(const GatherOptions& options) {
  // 1. The finished runs, each with some members, and their recipe. Only rank 0 keeps the weights, in files
  // without a name.
  mpi::Session session;
  const mpi::Communicator& world = session.world();
  const os::Stopwatch watch;
  std::vector<std::string> folders;
  for (const std::string& folder : options.runs) {
    const bool joins = !options.partial || is_finished(folder);
    require_run(folder, joins);
    if (joins) {
      folders.push_back(folder);
    } else if (world.root()) {
      fmt::print(stderr, "warning: {} is not finished; the vote goes without it\n", folder);
    }
  }
  if (folders.empty())
    throw Error("none of the runs is finished", "wait until they end, or resume those that were stopped");
  recipe::Recipe recipe = recipe::Recipe::load((fs::path(folders.front()) / "recipe.toml").string());
  const auto watchdog = supervise::Watchdog::beside(
      options.output, recipe.run.stall_timeout,
      "gather again; the recipe's run.stall_timeout says how long ranks wait", world);
  Spent spent;
  const fs::path scratch = scratch_of(options);
  std::vector<train::MemberRun> runs;
  for (const std::string& folder : folders) {
    const Settings summary = summary_of(folder);
    spent.add(spent_by(folder, summary));
    runs.push_back(train::read_member_run(folder, summary, scratch, world.root()));
    const run::ModelDescription &model = runs.back().description, &first = runs.front().description;
    std::string what = train::difference(model, first);
    if (what.empty() && !data_prep::prepare_alike(model.preparation, first.preparation)) {
      what = "their samples were prepared differently";
    }
    if (!what.empty()) {
      throw Error(fmt::format("{} and {} cannot vote together: {}", folder, folders.front(), what),
                  "pass runs of one recipe");
    }
  }

  // 2. The samples that they vote on.
  const run::Machine machine = bound_machine(world, recipe.run.execution.threads);
  const run::OtherPrograms others(machine);
  const int threads = machine.threads_for(recipe.run.execution.threads);
  const mpi::Communicator node = world.split_node();
  run::NodeStorage memory(world, node, recipe.data.memory);
  std::vector<std::string> splits{recipe.data.test_split};
  const auto& soups = recipe.ensemble.soups;
  const bool trials = std::ranges::any_of(
      soups, [](const std::string& soup) { return vote::needs_of_soup(soup) == vote::SoupNeeds::kTrials; });
  if (recipe.train.balance_classes || trials) splits.push_back(recipe.data.train_split);
  const std::string& validation_split = recipe.data.validation_name;
  if (trials && !validation_split.empty()) splits.push_back(validation_split);
  const data::Dataset dataset =
      data::Dataset::open(recipe::resolve_dataset(recipe), splits, memory.storage());
  require_one_recipe(folders, dataset, threads);
  recipe.ensemble.member = -1;  // all members from here on
  train::Job job = job_from(recipe, dataset, threads, world.size());
  job.log = {};  // the runs have their own logs

  // 3. One ensemble, as if this job had trained all members.
  const train::Training training = train::assemble(job, std::move(runs), options.partial);
  const run::RunFolder folder = folder_for(options, world);
  run::describe_run(folder, job.recipe, machine, threads, world);
  run::Phases phases;
  const auto loader_of = [&](const std::string& split) { return job.model.loader(dataset.split(split)); };
  std::optional<data::BatchLoader> trained, validated;
  std::optional<train::DataLoaders> loaders;
  if (trials) {
    trained.emplace(loader_of(recipe.data.train_split));
    if (!validation_split.empty()) validated.emplace(loader_of(validation_split));
    loaders.emplace(*trained, validated ? &*validated : nullptr);
  }
  const train::Verdict verdict = train::gather_and_vote(job, training, {job.ensemble.members, 1, 0, world},
                                                        world, loader_of(recipe.data.test_split), folder,
                                                        phases, loaders ? &*loaders : nullptr);
  world.barrier();
  train::Cost cost =
      train::cost_of(watch.seconds(), machine, recipe.run.execution.threads, phases, others, world);
  cost.other_programs = spent.other_programs;  // of the runs

  // 4. Print the result, with the cost of the runs and of this vote.
  mpi::on_root(world, [&] {
    Settings summary = train::summary(job, verdict, cost);
    summary.set("ranks", spent.ranks);
    summary.set("threads", spent.threads);
    summary.set("all_threads", spent.all_threads);
    summary.set("cores", spent.cores);
    summary.set("makespan_seconds", spent.makespan + cost.makespan_seconds);
    summary.set("core_seconds", spent.core_seconds + cost.core_seconds());
    summary.set("images_per_second", spent.images_per_second);
    summary.set("peak_rss_mib", spent.peak_rss_mib);
    if (spent.resumed) summary.set("resumed", true);
    summary.set("gathered_from", Value::Array(folders.begin(), folders.end()));
    recipe::write_summary(folder, summary, verdict, dataset, recipe.data.test_split,
                          phases.timeline->seconds(Activity::kEvaluation));
    write_page(folder, recipe);
    fmt::print(
        "{}: ensemble of {} out of {} runs: the longest took {}, all together {:.1f} core-seconds{}\n"
        "test, {} images, {} vote\n{}\n{}{}",
        job.name, verdict.voters.size(), folders.size(), format_duration(spent.makespan), spent.core_seconds,
        spent.resumed ? " (a run was resumed: only its time since then counts)" : "",
        format_count(verdict.test.samples), verdict.rule,
        train::evaluation_text(verdict.test, verdict.rule, verdict.voters, job.model.class_names),
        data::provenance_note(dataset.info().provenance), places_of(folder));
  });
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_gather(CLI::App& parser) {
  auto options = std::make_shared<GatherOptions>();
  add_option(parser, "runs", options->runs, "RUN", "Folders of finished runs of convoke train --member")
      ->required();
  add_option(parser, "--output", options->output, "FOLDER", "The new folder of the ensemble")->required();
  parser.add_flag("--partial", options->partial, "Vote without the members that are missing or not finished");
  parser.footer(kGatherHelp);
  return [options] { return gather(*options); };
}

}  // namespace convoke::app
