#include "cluster/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/engine/busy_workers.hpp"
#include "convoke/engine/memory_need.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/recipe/job.hpp"

namespace convoke::app {
namespace {

// The key of "key = value", as --set reads it.
std::string key_of(const std::string& change) { return trimmed(change.substr(0, change.find('='))); }

// All combinations of the values in "a=1,2" and "b=x,y": {"a=1", "b=x"}, ... Each key has one value, also
// with `changes`, which all variants have.
std::vector<slurm::Changes> variants_of(const std::vector<std::string>& sweep,
                                        const slurm::Changes& changes) {
  std::vector<slurm::Changes> variants{{}};
  for (const std::string& dimension : sweep) {
    const std::size_t equals = dimension.find('=');
    if (equals == std::string::npos || dimension.find_first_of(" \"'\\$`") != std::string::npos) {
      throw Error(
          fmt::format("--sweep {}: not of the form KEY=VALUE,VALUE,... without spaces and quotes", dimension),
          "for example --sweep train.optimizer.learning_rate=1e-3,3e-3");
    }
    const std::string key = dimension.substr(0, equals);
    const auto has_key = [&](const std::string& change) { return key_of(change) == key; };
    if (std::ranges::any_of(changes, has_key) || std::ranges::any_of(variants.front(), has_key)) {
      throw Error(fmt::format("--sweep {}: the key has a value already", dimension),
                  "name each key once, with all its values");
    }
    std::vector<slurm::Changes> more;
    for (const slurm::Changes& before : variants) {
      std::string rest = dimension.substr(equals + 1);
      for (std::size_t end = 0; end != std::string::npos; rest.erase(0, end + 1)) {
        end = rest.find(',');
        more.push_back(before);
        more.back().push_back(key + "=" + rest.substr(0, end));
        if (end == std::string::npos) break;
      }
    }
    if (std::set(more.begin(), more.end()).size() < more.size())
      throw Error(fmt::format("--sweep {}: a value is named twice", dimension), "name each value once");
    variants = std::move(more);
  }
  return variants;
}

// Returns a layout for jobs that train each of the variants: all have work for its ranks, and memory. Throws
// Error if a variant is not a valid recipe, or does not fit.
slurm::Layout layout_for_all(const JobRequest& request, const std::vector<slurm::Changes>& variants) {
  std::vector<recipe::Recipe> recipes;
  for (const slurm::Changes& variant : variants) {
    std::vector<std::string> changes = request.options.changes;
    changes.insert(changes.end(), variant.begin(), variant.end());
    recipes.push_back(recipe::Recipe::load(request.options.recipe, changes));
  }
  std::vector<slurm::Workload> workloads;  // they refer to the recipes
  int threads = 0;
  for (const recipe::Recipe& recipe : recipes) {
    workloads.push_back(workload_of(recipe, false));
    threads = std::max(threads, recipe.run.execution.threads);
  }
  slurm::Layout layout =
      request.layout(*std::ranges::min_element(workloads, {}, &slurm::Workload::most_workers), threads);
  std::int64_t most = 0;
  for (const slurm::Workload& workload : workloads)
    most = std::max(most, lay_out(workload, layout, request.partition).memory_mib);
  layout.memory_mib = most;
  return layout;
}

void plan_prepare(const JobRequest& request, slurm::JobSet& jobs) {
  if (request.options.source.empty()) {
    throw Error("the source of the samples is missing",
                "add --source FILE_OR_FOLDER, as for `convoke prepare`");
  }
  slurm::Workload workload;
  workload.name = "preparing";
  workload.most_workers = std::int64_t{1} << 30;
  workload.one_node = true;
  slurm::Layout requested = request.options.layout;
  if (requested.cpus_per_rank == 0) requested.cpus_per_rank = 1;
  add_prepare(jobs, request.job, lay_out(workload, requested, request.partition), request.options.source,
              request.recipe.data.path, request.options.prepare_options);
}

void plan_train(const JobRequest& request, slurm::JobSet& jobs) {
  const SlurmOptions& options = request.options;
  if (!options.sweep.empty()) {
    const std::vector<slurm::Changes> variants = variants_of(options.sweep, options.changes);
    add_sweep(jobs, request.job, layout_for_all(request, variants), request.recipe_words, variants,
              options.at_once);
    return;
  }
  const slurm::Layout layout = request.layout(workload_of(request.recipe, false));
  const recipe::Recipe& recipe = request.recipe;
  const bool votes = recipe.train.mode == "ensemble";
  const std::int64_t members =
      std::max<std::int64_t>(1, recipe.ensemble.members > 0 ? recipe.ensemble.members : layout.ranks());
  slurm::JobOptions job = request.job;
  job.work = engine::describe_busy_cores(recipe.train.step.batch, recipe.micro_batch(), layout.workers(),
                                         votes ? std::min(members, layout.ranks()) : 1);
  add_train(jobs, job, layout, request.recipe_words);
  if (options.chain) add_evaluate(jobs, request.job, layout);
}

void plan_ensemble(const JobRequest& request, slurm::JobSet& jobs) {
  const recipe::Recipe& recipe = request.recipe;
  if (recipe.train.mode != "ensemble") {
    throw Error(fmt::format("{} trains one synchronous model", recipe.name),
                "use convoke slurm train, or make it an ensemble: --set train.mode=ensemble");
  }
  if (recipe.ensemble.members == 0) {
    throw Error(
        fmt::format("{}: the number of members is not set (ensemble.members = \"ranks\")", recipe.name),
        "set it, for example --set ensemble.members=8; each member becomes a job");
  }
  const slurm::Workload workload = workload_of(recipe, true);
  const slurm::Layout layout = request.layout(workload);
  slurm::JobOptions job = request.job;
  job.work = engine::describe_busy_cores(recipe.train.step.batch, recipe.micro_batch(), layout.workers(), 1);
  add_ensemble(jobs, job, layout, request.recipe_words, recipe.ensemble.members, request.options.at_once);
  if (request.options.chain) add_evaluate(jobs, request.job, layout);
}

// A study with one run of a recipe on 1, 2, 4, ... nodes, up to those of `largest`.
study::StudyFile study_on_nodes(const SlurmOptions& options, const recipe::Recipe& recipe,
                                const slurm::Layout& largest) {
  study::StudyFile file;
  file.name = recipe.name;
  file.recipes = {options.recipe};
  for (const std::string& change : options.changes) {  // a study file has its own keys for some of them
    const std::string key = key_of(change);
    if (key == "data.fraction") {
      file.fractions = {recipe.data.samples.fraction};
    } else if (key == "train.mode") {
      file.modes = {{.name = recipe.train.mode}};
    } else if (key != "run.threads") {  // `largest` has them
      file.set.push_back(change);
    }
  }
  file.ranks.clear();
  for (std::int64_t nodes = 1; nodes < largest.nodes; nodes *= 2)
    file.ranks.push_back(nodes * largest.ranks_per_node);
  file.ranks.push_back(largest.ranks());
  file.threads = {largest.cpus_per_rank};
  file.repeats = file.at_most = 1;
  file.warm_up = 0;  // a warm-up run may take as long as the run
  return file;
}

void plan_study(const JobRequest& request, slurm::JobSet& jobs) {
  const SlurmOptions& options = request.options;
  if (options.layout.nodes == 0) {
    throw Error("the number of nodes is missing",
                "add --nodes N to use 1, 2, 4, ... N nodes, or name a study file");
  }
  const slurm::Layout largest = request.layout(workload_of(request.recipe, false));
  SlurmOptions spread = options;
  spread.layout.ranks_per_node = largest.ranks_per_node;  // otherwise fewer nodes might do
  plan_study_jobs(study_on_nodes(options, request.recipe, largest), spread, request.job, request.partition,
                  jobs);
}

constexpr std::array kKinds{JobKind{"train", plan_train}, JobKind{"ensemble", plan_ensemble},
                            JobKind{"study", plan_study}, JobKind{"prepare", plan_prepare}};

}  // namespace

slurm::Layout JobRequest::layout(const slurm::Workload& workload, int threads) const {
  if (workload.node_bytes == 0) {
    fmt::print(stderr,
               "warning: there is no dataset {} yet, so the requested memory does not include its samples\n"
               "  hint: if they are many, add their size to --mem in the scripts\n",
               recipe.data.path);
  }
  slurm::Layout requested = options.layout;
  if (threads > 0 && requested.cpus_per_rank == 0) requested.cpus_per_rank = threads;
  if (threads > requested.cpus_per_rank && requested.cpus_per_rank > 0) {
    throw Error(
        fmt::format("run.threads = {} needs more than --cpus-per-rank {}", threads, requested.cpus_per_rank),
        "leave out one of them: a rank has a thread on each of its cores");
  }
  // With as many members as ranks, each core gets a rank, as in a job without Slurm.
  if (workload.one_node && requested.cpus_per_rank == 0 && requested.ranks_per_node == 0)
    requested.cpus_per_rank = 1;
  return lay_out(workload, requested, partition);
}

const JobKind& job_kind(const std::string& name) { return find_in(kKinds, name, "kind of job"); }

namespace {

namespace fs = std::filesystem;

// A process before it trains: program, MPI and its buffers, HDF5, kernels. An estimate: processes with small
// networks took 57 to 108 MiB in all.
constexpr std::int64_t kProgramBytes = 96 << 20;

// Bytes of all splits of the dataset, which the ranks of a node share, up to data.memory; 0 if it does not
// exist yet.
std::int64_t samples_of_node(const recipe::Recipe& recipe) {
  std::uintmax_t bytes = 0;
  std::error_code missing;
  try {
    const fs::path dataset = recipe::resolve_dataset(recipe);
    if (fs::is_regular_file(dataset)) bytes = fs::file_size(dataset, missing);
    for (const auto& shard : fs::directory_iterator(dataset, missing)) {
      if (shard.path().extension() == ".h5") bytes += shard.file_size(missing);
    }
  } catch (const Error&) {
    return 0;
  }
  if (recipe.data.memory > 0) bytes = std::min<std::uintmax_t>(bytes, recipe.data.memory);
  return static_cast<std::int64_t>(bytes);
}

// Returns the place of a rank in a group of so many ranks on nodes with `per_node` ranks. If the nodes have
// unequal parts of the group, one rank of each is assumed to exchange everything: it needs the most memory.
engine::NodePlace place_of(const recipe::Recipe& recipe, engine::ModelSharing sharing, std::int64_t group,
                           std::int64_t per_node) {
  if (!recipe.train.loop.strategy->sums_gradients(0)) return {};
  if (sharing != engine::ModelSharing::kHost) per_node = 1;
  if (per_node % group == 0) return {};
  const bool even = group % per_node == 0;
  return {.nodes = static_cast<int>((group + per_node - 1) / per_node),
          .leaders = even ? static_cast<int>(per_node) : 1};
}

}  // namespace

slurm::Workload workload_of(const recipe::Recipe& recipe, bool alone) {
  const bool votes = recipe.train.mode == "ensemble" && !alone;
  const std::int64_t micro_batches = recipe.train.step.batch / recipe.micro_batch();
  slurm::Workload workload;
  workload.name = recipe.name;
  workload.one_node = votes && recipe.ensemble.members == 0;  // any number of members
  workload.most_workers = !votes                        ? micro_batches
                          : recipe.ensemble.members > 0 ? micro_batches * recipe.ensemble.members
                                                        : std::int64_t{1} << 30;
  workload.node_bytes = samples_of_node(recipe);
  workload.rank_bytes = [&recipe, votes](int threads, std::int64_t ranks, std::int64_t nodes) {
    const nn::Graph graph = recipe.graph();
    const auto& optimizer = recipe.train.loop.optimizer;
    const std::int64_t members = recipe.ensemble.members > 0 ? recipe.ensemble.members : ranks;
    const std::int64_t group = votes ? std::max<std::int64_t>(1, ranks / members) : ranks;
    const bool validates = recipe.data.validates();
    const engine::EngineOptions options = engine_options(recipe, threads);
    const engine::MemoryNeed need = engine::predict_memory(
        graph, options, *optimizer, recipe.train.step.batch, validates, 0, static_cast<int>(group),
        place_of(recipe, options.sharing, group, (ranks + nodes - 1) / nodes));
    const std::int64_t checkpoint =
        graph.parameter_count() * 4 *
        (1 + static_cast<std::int64_t>(optimizer->state_slots()) + (validates ? 1 : 0));
    return static_cast<std::int64_t>(need.total()) + checkpoint + kProgramBytes;
  };
  return workload;
}

}  // namespace convoke::app
