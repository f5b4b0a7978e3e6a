#include "convoke/train/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/engine/gradient_sums.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/memory.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {
namespace {

// Growth of the process that the engine does not count: kernels that oneDNN makes, library pages touched for
// the first time. Measured: 12 MiB with a network of four layers, 50 MiB with ResNet-18.
constexpr std::uint64_t kProgramBytes = std::uint64_t{16} << 20;

/// The properties of one rank's training that decide its memory.
struct Demand {
  const Job& job;
  nn::Graph graph;  ///< in its last stage, which trains the most parameters
  std::int64_t samples;
  bool validates;
  int rank, ranks;  // of the group
  bool root;
  std::size_t sharing;      // ranks of the group on this node, which share one model
  engine::NodePlace place;  // among the nodes that sum gradients

  engine::MemoryNeed need(const engine::EngineOptions& options) const {
    engine::MemoryNeed need =
        engine::predict_memory(graph, options, *job.loop.optimizer, samples, validates, rank, ranks, place);
    need.parameters = (need.parameters + sharing - 1) / sharing;
    need.optimizer_state = (need.optimizer_state + sharing - 1) / sharing;
    return need;
  }
};

std::uint64_t parameter_bytes(const Job& job) {
  return static_cast<std::uint64_t>(job.model.graph.parameter_count()) * sizeof(float);
}

// Returns the bytes of the largest parameter, whose state in bf16 is converted to fp32 for a checkpoint.
std::uint64_t converted_bytes(const Job& job) {
  std::size_t largest = 0;
  if (job.engine.update.state_precision == nn::Precision::kBfloat16) {
    for (const engine::CanonicalParameter& parameter : engine::canonical_parameters(job.model.graph))
      largest = std::max(largest, parameter.size());
  }
  return largest * sizeof(float);
}

// Returns the memory of a rank in addition to its engine: the root of a group keeps one more canonical copy
// of the checkpoint's content, which a thread writes. At a validation, each rank copies the parameters, while
// the last checkpoint may still be written.
std::uint64_t bytes_for_checkpoints(const Demand& demand) {
  const std::uint64_t parameters = parameter_bytes(demand.job);
  const std::uint64_t best = demand.job.loop.early_stopping.restores_best() ? parameters : 0;
  return best + (demand.validates ? parameters : 0) +
         (demand.root ? checkpoint_bytes(demand.job) + converted_bytes(demand.job) : 0);
}

std::string table(const engine::MemoryNeed& need, std::uint64_t checkpoint, std::uint64_t resident) {
  std::string text;
  for (const auto& [name, bytes] : {std::pair<const char*, std::uint64_t>("parameters", need.parameters),
                                    {"gradients", need.gradients},
                                    {"exchange", need.exchange},
                                    {"optimizer state", need.optimizer_state},
                                    {"working weights", need.working_weights},
                                    {"activations", need.activations},
                                    {"evaluation", need.evaluation},
                                    {"checkpoint", checkpoint},
                                    {"kernels and libraries", kProgramBytes},
                                    {"program and data so far", resident}}) {
    if (bytes > 0) text += fmt::format("\n  {:<24} {:>10}", name, format_bytes(bytes));
  }
  return text;
}

// Returns settings that fit, e.g. "train.micro_batch = 4; run.threads = 1". Each is enough alone if the other
// ranks of the node are like this one.
std::string what_fits(const Demand& demand, std::uint64_t checkpoint, std::uint64_t left, int node_ranks) {
  const engine::EngineOptions& now = demand.job.engine;
  const auto fits = [&](auto option, auto value) {
    engine::EngineOptions options = now;
    options.*option = value;
    return (demand.need(options).total() + checkpoint + kProgramBytes) *
               static_cast<std::uint64_t>(node_ranks) <=
           left;
  };
  std::vector<std::string> ways;
  if (!now.low_memory && fits(&engine::EngineOptions::low_memory, true))
    ways.emplace_back("train.memory = \"low\"");
  for (std::int64_t micro_batch = now.micro_batch - 1; micro_batch >= 1; --micro_batch) {
    if (now.batch % micro_batch != 0 || !fits(&engine::EngineOptions::micro_batch, micro_batch)) continue;
    ways.push_back(fmt::format("train.micro_batch = {}", micro_batch));
    break;
  }
  if (now.precision == nn::Precision::kFloat32 && nn::backend().native_bf16 &&
      fits(&engine::EngineOptions::precision, nn::Precision::kBfloat16))
    ways.emplace_back("train.precision = \"bf16\"");
  for (int threads = now.threads / 2; threads >= 1; threads /= 2) {
    if (!fits(&engine::EngineOptions::threads, threads)) continue;
    ways.push_back(fmt::format("run.threads = {}", threads));
    break;
  }
  const std::uint64_t each = demand.need(now).total() + checkpoint + kProgramBytes;
  if (const std::uint64_t ranks = left / std::max<std::uint64_t>(1, each); ranks >= 1 && node_ranks > 1) {
    ways.push_back(counted(ranks, "rank") + " on this node");
  }
  return join(ways, "; ");
}

}  // namespace

std::uint64_t checkpoint_bytes(const Job& job) {
  const std::uint64_t average = job.engine.update.ema > 0 ? 1 : 0;
  const std::uint64_t best = job.loop.early_stopping.restores_best() ? 1 : 0;
  return parameter_bytes(job) * (1 + job.loop.optimizer->state_slots() + average + best);
}

std::uint64_t require_memory(const Job& job, std::int64_t samples, bool validates,
                             const mpi::Communicator& group, const mpi::Communicator& world,
                             std::uint64_t unread) {
  const mpi::Communicator node = world.split_node();
  const nn::Graph trained = unfrozen_by(job.loop.stages, job.model.graph, 1);
  const bool one_model = job.loop.strategy->sums_gradients(std::max<std::int64_t>(0, job.loop.epochs - 1));
  const mpi::Communicator copy = engine::model_ranks(job.engine, group).sharing;
  const auto sharing = static_cast<std::size_t>(one_model ? copy.size() : 1);
  const engine::NodePlace place =
      job.loop.strategy->sums_gradients(0) ? engine::node_place(copy, group) : engine::NodePlace();
  const Demand demand{job,          trained,      samples, validates, group.rank(),
                      group.size(), group.root(), sharing, place};
  const std::uint64_t resident = os::resident_bytes();
  // Also a barrier: no rank allocates before all have measured.
  const double available = mpi::min_of(node, static_cast<double>(os::available_bytes()));
  const engine::MemoryNeed need = demand.need(job.engine);
  const std::uint64_t checkpoint = bytes_for_checkpoints(demand);
  const std::uint64_t mine = need.total() + checkpoint + kProgramBytes;
  const double most = mpi::max_of(node, static_cast<double>(mine));
  std::int64_t sums[] = {static_cast<std::int64_t>(mine), static_cast<std::int64_t>(resident)};
  node.sum(sums);
  const auto wanted = static_cast<std::uint64_t>(sums[0]);
  const auto held = static_cast<std::uint64_t>(sums[1]);
  const std::uint64_t free = job.memory.node_bytes > 0
                                 ? job.memory.node_bytes - std::min(job.memory.node_bytes, held)
                                 : static_cast<std::uint64_t>(available);
  const std::uint64_t left = free - std::min(free, unread);

  std::string what, hint;
  if (wanted > left && static_cast<double>(mine) == most) {
    what = fmt::format(
        "{}: {} does not fit into memory: {} here {} {} more, but {} {} left; the rank that needs "
        "most:{}",
        os::host_name(), job.name, counted(node.size(), "rank"), node.size() == 1 ? "needs" : "need",
        format_bytes(wanted), format_bytes(left),
        job.memory.node_bytes > 0 ? fmt::format("of run.memory_mib = {} are", job.memory.node_bytes >> 20)
                                  : "are",
        table(need, checkpoint, resident));
    const std::string ways = what_fits(demand, checkpoint, left, node.size());
    hint = !ways.empty()               ? "each of these alone would fit: " + ways
           : job.memory.node_bytes > 0 ? "raise run.memory_mib, or use a smaller network or input"
                                       : "use a smaller network or input, or a node with more memory";
  }
  what = mpi::first_text(world, what);
  hint = mpi::first_text(world, hint);
  if (!what.empty()) throw Error(what, hint);
  return resident + mine;
}

}  // namespace convoke::train
