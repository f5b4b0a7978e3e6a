#include "cluster/jobs.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/engine/memory_need.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/recipe/job.hpp"

namespace convoke::app {
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
