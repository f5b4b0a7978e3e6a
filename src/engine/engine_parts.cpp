#include "engine/engine_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/engine/update.hpp"
#include "convoke/engine/worker.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/backend.hpp"
#include "engine/execution.hpp"

namespace convoke::engine {
namespace {

void check_layouts_agree(const nn::ParameterLayout& layout, const mpi::Communicator& group) {
  const std::vector<std::uint64_t> hashes = mpi::all_gather(group, layout.hash());
  if (std::ranges::count(hashes, layout.hash()) == group.size()) return;
  throw Error(
      "the ranks have different parameter layouts, because their processors have different instruction sets",
      "set ONEDNN_MAX_CPU_ISA on all ranks to the smallest of these sets, for example AVX2");
}

std::shared_ptr<const nn::ParameterLayout> make_layout(const nn::Graph& graph, const EngineOptions& options,
                                                       const mpi::Communicator& group) {
  auto layout = mpi::together(group, [&] {
    nn::single_threaded();
    return std::make_shared<nn::ParameterLayout>(graph, options.micro_batch, options.convolution,
                                                 options.precision);
  });
  check_layouts_agree(*layout, group);
  return layout;
}

// Shares memory among the ranks of `node`. Returns null on all ranks of `group` if those of a node cannot
// share it (mpi::SharedMemory); then `problem` is the reason, at the root.
std::unique_ptr<ModelMemory> share_memory(const ModelMemory::Sizes& sizes, int workers,
                                          const mpi::Communicator& node, const mpi::Communicator& group,
                                          std::string& problem) {
  std::unique_ptr<ModelMemory> shared;
  std::string mine;
  try {
    shared = std::make_unique<ModelMemory>(node, sizes, workers);
  } catch (...) {
    const Error error = mpi::as_error(std::current_exception());
    mine = fmt::format("{}; {}", error.what(), error.hint());
  }
  if (!mpi::any_of(group, shared == nullptr)) return shared;
  const std::string first = mpi::first_text(group, mine);
  if (group.rank() == 0) problem = first;
  return nullptr;
}

void make_memory(EngineParts& parts, const EngineOptions& options, const optim::Optimizer& optimizer,
                 const ModelRanks& ranks, const mpi::Communicator& group) {
  const nn::ParameterLayout& layout = *parts.layout;
  const ModelMemory::Sizes sizes{.parameters = layout.size(),
                                 .trainable = layout.trainable_size(),
                                 .slots = optimizer.state_slots(),
                                 .half_states = options.update.state_precision == nn::Precision::kBfloat16,
                                 .average = options.update.ema > 0,
                                 .sums = layout.gradient_size() + kStepMetrics,
                                 .exact = options.reduction == Reduction::kExact,
                                 .blocks = Update::block_count(layout)};
  const int workers = ranks.place.workers;
  parts.memory = share_memory(sizes, workers, ranks.sharing, group, parts.unshared);
  if (parts.memory != nullptr) return;
  const mpi::Communicator alone = group.split(group.rank(), 0);
  parts.memory = mpi::together(group, [&] { return std::make_unique<ModelMemory>(alone, sizes, workers); });
}

}  // namespace

ModelRanks model_ranks(const EngineOptions& options, const mpi::Communicator& group) {
  const mpi::Communicator host = group.split_node();
  const int workers = worker_count(options, group.rank(), group.size());
  const std::vector<int> counts = mpi::all_gather(host, workers);
  const os::WorkerPlace place{.workers = workers,
                              .first = std::accumulate(counts.begin(), counts.begin() + host.rank(), 0),
                              .workers_of_host = std::accumulate(counts.begin(), counts.end(), 0)};
  if (options.sharing == ModelSharing::kHost) return {host, place};
  if (options.sharing == ModelSharing::kNone) return {group.split(group.rank(), 0), place};
  const int node = mpi::together(
      group, [&] { return os::numa_node_of_rank(place, os::allowed_cpus(), os::online_cpus()); });
  return {host.split(node, host.rank()), place};
}

EngineParts make_parts(const nn::Graph& graph, const EngineOptions& options,
                       const optim::Optimizer& optimizer, const mpi::Communicator& group, bool streamed) {
  const ModelRanks ranks = model_ranks(options, group);
  const int workers = ranks.place.workers;
  EngineParts parts;
  if (nn::synchronizes(graph)) {
    parts.moments = std::make_shared<MomentsExchange>(group, workers, options.batch / options.micro_batch,
                                                      options.reduction == Reduction::kExact);
  }
  parts.layout = make_layout(graph, options, group);
  make_memory(parts, options, optimizer, ranks, group);
  parts.team = mpi::together(group, [&] { return std::make_unique<NodeTeam>(*parts.memory, ranks.place); });
  sync::ExchangeOptions exchange{options.bucket_bytes, options.wire};
  if (parts.moments != nullptr) exchange.progress_thread_bytes.reset();  // they are sent during backward, too
  parts.sums = std::make_unique<GradientSums>(*parts.memory, *parts.team, group,
                                              parts.layout->trainable_size(), exchange);
  if (steals_micro_batches(options, graph))
    parts.queue = std::make_unique<WorkQueue>(*parts.memory, group, streamed);
  // A queue of all workers does more. If each rank has at most one micro-batch, nothing can be balanced.
  const bool one_queue = parts.queue != nullptr && !streamed && parts.memory->node().size() == group.size();
  const std::int64_t micro_batches = options.batch / options.micro_batch;
  if (options.balance && !one_queue && group.size() > 1 && micro_batches > group.size())
    parts.balance = std::make_unique<LoadBalancer>(micro_batches, workers, group);
  return parts;
}

}  // namespace convoke::engine
