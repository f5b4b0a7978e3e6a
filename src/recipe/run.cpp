#include "convoke/recipe/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/recipe/job.hpp"
#include "convoke/run/environment.hpp"
#include "convoke/run/equal_ranks.hpp"
#include "convoke/run/stopping.hpp"
#include "convoke/run/trace_file.hpp"
#include "convoke/supervise/watchdog.hpp"
#include "convoke/train/fit.hpp"
#include "convoke/train/verdict.hpp"

namespace convoke::recipe {
namespace {

namespace fs = std::filesystem;

// Returns the time when the batch system ends this job; only rank 0 asks, once.
run::Deadline end_of_job(const mpi::Communicator& world) {
  const std::optional<double> seconds = mpi::on_root(world, [] { return run::slurm_seconds_left(); });
  return seconds ? run::in_seconds(*seconds) : std::nullopt;
}

// Throws before the first step for tokens that the model does not know, also for those of the test samples,
// which are read after training, and for a test split that does not fit.
void require_known_tokens(const Recipe& recipe, const train::Job& job, const data::Dataset& dataset,
                          const mpi::Communicator& world) {
  const nn::Graph& graph = job.model.graph;
  train::require_vocabulary(graph, job.name, dataset, recipe.data.train_split);
  if (!recipe.data.validation_name.empty()) {
    train::require_vocabulary(graph, job.name, dataset, recipe.data.validation_name);
  }
  mpi::on_root(world, [&] {
    train::require_split(dataset.info(), dataset.file(), recipe.data.test_split);
    train::require_vocabulary(graph, job.name, dataset.info(), dataset.file(), recipe.data.test_split);
  });
}

// Returns the recipe with the absolute paths of its dataset, its teacher and its fallback folder, so that a
// stored recipe works in any folder.
Recipe located(Recipe recipe) {
  recipe.data.path = fs::absolute(resolve_dataset(recipe)).lexically_normal().string();
  for (std::string* path : {&recipe.train.loop.distill.teacher, &recipe.run.checkpoints.fallback}) {
    if (!path->empty()) *path = fs::absolute(*path).lexically_normal().string();
  }
  return recipe;
}

// Throws Error if a run without checkpoints of this job has those of another mode, or results: training would
// begin again and replace them.
void require_unfinished(const train::Job& job, const run::RunFolder& folder) {
  const std::string name = folder.path().string();
  const fs::path checkpoints = folder.checkpoints();
  std::vector<fs::path> places{checkpoints};
  if (const std::string& fallback = job.checkpoints.fallback; !fallback.empty())
    places.push_back(run::fallback_of(fallback, folder.path(), checkpoints));
  const run::Fingerprint saved = run::saved_fingerprint(places);
  const std::vector<std::string> differing = differences(saved, job.fingerprint, "in the checkpoint");
  if (!saved.empty() && !differing.empty()) {
    throw Error(
        fmt::format("{}: its resume fingerprint differs ({})", name, join(differing, "; ")),
        "resume with the recipe of that run (convoke train --resume RUN), or train in another folder; "
        "--set model.weights=RUN starts from its model");
  }
  const fs::path summary = folder.file("summary.json");
  if (!fs::exists(summary) && !fs::exists(folder.model()) && !fs::exists(folder.ensemble())) return;
  const std::optional<Settings> facts = metrics::read_json(summary);
  const bool gathered = facts && facts->find("gathered_from") != nullptr;
  const std::string member = job.ensemble.member < 0 ? "" : fmt::format(" of member {}", job.ensemble.member);
  throw Error(
      fmt::format("{} is finished, but has no checkpoints{}, so it would be trained again", name, member),
      gathered ? "resume the runs of its members instead, with the same changes, and gather them again"
               : "train into another --output");
}

// Throws Error if a checkpoint in the folder belongs to another recipe, or if the run is finished and there
// is nothing to continue from. Call it on one rank.
void require_resumable(const train::Job& job, const run::RunFolder& folder) {
  bool begun = false;
  for (std::int64_t member = 0; member < job.ensemble.members; ++member) {
    const run::Checkpoints checkpoints = train::checkpoints_of(job, folder, member);
    checkpoints.require_resumable();
    const bool trained = job.ensemble.member < 0 || job.ensemble.member == member;
    begun = begun || (trained && !checkpoints.newest_file().empty());
  }
  if (begun) return;
  require_unfinished(job, folder);
  if (read_text(folder.metrics()).value_or("").find("\"event\":\"epoch\"") == std::string::npos) return;
  fmt::print(stderr,
             "warning: {}: no checkpoint is found, so training begins again, and replaces the lines of "
             "metrics.jsonl\n",
             folder.path().string());
}

// True if the job trains members further than the finished run did whose summary this is.
bool trains_on(const train::Job& job, const Settings& summary) {
  const auto is_done = [&](const Settings& facts) {
    return facts.find("stopped_at_step") != nullptr || count_at(facts, "epochs") >= job.loop.epochs;
  };
  const std::int64_t trained = job.ensemble.member < 0 ? job.ensemble.members : 1;
  return std::ranges::count_if(tables_at(summary, "member_facts"), is_done) < trained;
}

// Returns the summary of a finished run that is resumed; empty if it is not finished. A run that trains on is
// unfinished from here until its next summary, so the file is removed then. A damaged one is written again.
std::optional<Settings> withdraw_summary(const train::Job& job, const run::RunFolder& folder) {
  const fs::path file = folder.file("summary.json");
  std::optional<Settings> summary;
  try {
    summary = metrics::read_json(file);
  } catch (const Error& error) {
    fmt::print(stderr, "warning: {}; it is written again\n", error.what());
    fs::remove(file);
  }
  if (summary && trains_on(job, *summary)) fs::remove(file);
  return summary;
}

// A resumed run must have the same groups if they decide which samples a member has.
void add_groups(const data::Split& training, train::Job& job) {
  const std::string groups = data::hash_of_groups(training);
  if (!groups.empty() && (job.samples.validation_split > 0 || job.ensemble.shards != data::Sharding::kFull)) {
    job.fingerprint.emplace_back("data.groups", groups);
  }
}

train::Groups groups_of(const Recipe& recipe, const train::Job& job, const mpi::Communicator& world) {
  return recipe.ensemble.member < 0 ? train::split(world, job.ensemble.members, job.ensemble.ranks)
                                    : train::only(world, recipe.ensemble.member, job.ensemble.members);
}

}  // namespace

Run::Run(Recipe recipe, const mpi::Communicator& world, const run::Machine& machine)
    : world_(world),
      node_(world.split_node()),
      machine_(machine),
      other_programs_(machine),
      phases_(recipe.run.trace ? run::trace_events(machine.all_threads(recipe.run.execution.threads)) : 0),
      recipe_(located(std::move(recipe))),
      training_memory_(world, node_, recipe_.data.memory),
      dataset_(open_training_samples()),
      job_(job_from(recipe_, dataset_, machine.threads_for(recipe_.run.execution.threads), world.size())),
      groups_(groups_of(recipe_, job_, world)),
      loader_(dataset_.split(recipe_.data.train_split), job_.model.graph.input_shape(),
              job_.model.normalization, job_.augmenter) {
  if (job_.engine.reduction == engine::Reduction::kExact) run::require_equal_arithmetic(world_);
  add_groups(dataset_.split(recipe_.data.train_split), job_);
  job_.weights = initial_weights(recipe_, job_.model.graph, world);
  job_.job_end = end_of_job(world);
  job_.deadline = run::deadline_before(job_.job_end, recipe_.run.stop_before);
  require_known_tokens(recipe_, job_, dataset_, world);
  teacher_ = teacher_of(recipe_, dataset_, world);
  if (!recipe_.data.validation_name.empty()) {
    validation_.emplace(job_.model.loader(dataset_.split(recipe_.data.validation_name)));
  }
  const Timeline::Use use(*phases_.timeline);
  const Span span(Activity::kLoad);
  predicted_bytes_ = train::require_trainable(job_, loaders(), groups_, world);
}

data::Dataset Run::open_training_samples() {
  const Timeline::Use use(*phases_.timeline);
  const Span span(Activity::kLoad);
  data::Dataset dataset =
      data::Dataset::open(recipe_.data.path, recipe_.data.training_splits(), training_memory_.storage());
  run::require_equal(
      world_,
      {{"the content of the dataset", dataset.info().content_hash},
       {"the groups of the training samples", data::hash_of_groups(dataset.split(recipe_.data.train_split))}},
      fmt::format("copy {} to all hosts again", recipe_.data.path));
  return dataset;
}

// Frees the teacher.
void Run::compute_soft_labels(const train::DataLoaders& loaders, const run::RunFolder& folder) {
  if (!teacher_) return;
  const Timeline::Use use(*phases_.timeline);
  const Span span(Activity::kLoad);
  soft_labels_.emplace(*teacher_, job_.loop.distill.temperature, loader_.split(),
                       train::trained_samples(job_, loaders), job_.engine, node_,
                       folder.file(fmt::format("soft-labels-{}.bin", world_.rank())));
  loader_ = loader_.with_soft_labels(soft_labels_->values());
  teacher_.reset();
}

Outcome Run::train(const run::RunFolder& folder, bool resume, bool quiet, double seconds_before,
                   std::unique_ptr<supervise::Watchdog> before) {
  const supervise::Watchdog watchdog(folder.path(), recipe_.run.stall_timeout, world_, std::move(before));
  const mpi::ClockReading clock = recipe_.run.trace ? mpi::read_root_clock(world_) : mpi::ClockReading{};
  const auto write_trace = [&] {
    if (recipe_.run.trace) run::write_trace(folder.file("trace.json"), *phases_.timeline, clock, world_);
  };

  // 1. Train. A member that fails or stops early does not end the job.
  if (resume) mpi::on_root(world_, [&] { require_resumable(job_, folder); });
  run::describe_run(folder, job_.recipe, machine_, job_.engine.threads, world_);
  const train::DataLoaders loaders = this->loaders();
  compute_soft_labels(loaders, folder);
  std::optional<Settings> earlier;  // the summary of the run that this one resumes; on rank 0
  if (resume) mpi::on_root(world_, [&] { earlier = withdraw_summary(job_, folder); });
  const train::Training training =
      train::train_members(job_, loaders, groups_, world_, folder, resume, quiet, phases_);
  Outcome outcome;
  outcome.interrupted_by = training.interrupted_by;
  if (outcome.interrupted_by) {
    write_trace();
    return outcome;
  }

  // 2. Gather, vote, compute the verdict.
  run::NodeStorage test_memory(world_, node_, recipe_.data.memory);
  const data::Dataset tested = [&] {
    const Timeline::Use use(*phases_.timeline);
    const Span span(Activity::kLoad);
    data::Dataset opened =
        data::Dataset::open(recipe_.data.path, {recipe_.data.test_split}, test_memory.storage());
    const data::DatasetInfo &trained = dataset_.info(), &now = opened.info();
    if (now.content_hash != trained.content_hash || now.sample_shape != trained.sample_shape ||
        now.classes != trained.classes) {
      throw Error(fmt::format("{}: was replaced by another dataset while the job trained", recipe_.data.path),
                  fmt::format("put the file back, and continue with convoke train --resume {}",
                              shell_word(folder.path().string())));
    }
    return opened;
  }();
  const double validated = phases_.timeline->seconds(Activity::kEvaluation);
  const train::Verdict& verdict = outcome.verdict.emplace(train::gather_and_vote(
      job_, training, groups_, world_, job_.model.loader(tested.split(recipe_.data.test_split)), folder,
      phases_, &loaders));
  // The mean over the ranks, as that of the phases; every rank waits for the others here.
  const double evaluated = phases_.timeline->seconds(Activity::kEvaluation) - validated;
  const double test_seconds = mpi::sum_of(world_, evaluated) / world_.size();
  phases_.first_step += seconds_before;
  outcome.cost = train::cost_of(makespan_.seconds(), machine_, recipe_.run.execution.threads, phases_,
                                other_programs_, world_, predicted_bytes_);
  outcome.provenance = tested.info().provenance;

  // 3. Write the results.
  mpi::on_root(world_, [&] {
    Settings summary = train::summary(job_, verdict, outcome.cost);
    double seconds = test_seconds;
    if (earlier && train::was_finished(*earlier, verdict)) {
      summary = train::with_cost_of(*earlier, summary);
      if (const double then = number_at(*earlier, "test.seconds"); !std::isnan(then)) seconds = then;
    }
    write_summary(folder, summary, verdict, tested, recipe_.data.test_split, seconds);
  });
  write_trace();
  return outcome;
}

void write_summary(const run::RunFolder& folder, const Settings& summary, const train::Verdict& verdict,
                   const data::Dataset& tested, const std::string& test_split, double test_seconds) {
  Settings evaluation{{"format", metrics::kFileFormat},
                      {"data", fs::absolute(tested.file()).lexically_normal().string()},
                      {"split", test_split},
                      {"content_hash", tested.info().content_hash}};
  const Settings details =
      train::evaluation_details(verdict.test, verdict.rule, verdict.voters, tested.info().class_names);
  for (const auto& [key, value] : details.entries()) evaluation.set(key, value);
  os::replace_text(folder.file("evaluation.json"), metrics::to_json(evaluation) + "\n");
  Settings whole = summary;
  whole.set_path("test.seconds", test_seconds);
  if (const std::string& provenance = tested.info().provenance; !provenance.empty()) {
    whole.set("provenance", provenance);
  }
  os::replace_text(folder.file("summary.json"), metrics::to_json(whole, true) + "\n");
}

}  // namespace convoke::recipe
