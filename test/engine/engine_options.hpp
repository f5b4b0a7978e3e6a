#pragma once
#include <cstdint>

#include "convoke/engine/step_engine.hpp"
#include "convoke/nn/layer_table.hpp"
#include "support/catch.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

namespace convoke::engine {

/// Options for steps of 32 samples.
inline EngineOptions options(Reduction reduction, int threads = 1, std::int64_t micro_batch = 4) {
  EngineOptions options;
  options.batch = 32;
  options.micro_batch = micro_batch;
  options.seed = 5;
  options.reduction = reduction;
  options.threads = threads;
  return options;
}

/// Returns a graph for tiny::Pictures. With a synchronized batch norm, a worker runs all its micro-batches at
/// the same time.
inline nn::Graph normalized(bool synchronized) {
  return nn::build_graph(Shape{1, 8, 8}, {{{"layer", "conv2d"}, {"filters", 8}, {"kernel", 3}},
                                          {{"layer", "batch_norm"}, {"synchronized", synchronized}},
                                          {{"layer", "flatten"}},
                                          {{"layer", "dense"}, {"units", 4}, {"activation", "softmax"}}});
}

/// Owns the samples, the network and the optimizer that a step engine uses.
struct EngineTask {
  tiny::Pictures pictures;
  nn::Graph graph;
  std::unique_ptr<optim::Optimizer> optimizer;
  data::BatchLoader loader = pictures.loader();
  std::vector<std::uint32_t> ids = pictures.ids();

  explicit EngineTask(std::size_t samples = 32, const Settings& optimizer_settings = {{"name", "sgd"}},
                      nn::Graph network = tiny::graph())
      : pictures(samples), graph(std::move(network)), optimizer(optim::make_optimizer(optimizer_settings)) {}
  EngineTask(const EngineTask&) = delete;
  EngineTask& operator=(const EngineTask&) = delete;

  /// Makes an engine, which this task must outlive. Collective over `group`.
  StepEngine engine(const EngineOptions& options, const mpi::Communicator& group) const {
    return {graph, options, loader, *optimizer, group};
  }
};

/// CHECKs that job(group, threads) gives the same on one rank and on all, with one thread and several.
/// Returns it.
template <class Job>
auto same_on_any_ranks_and_threads(const Job& job) {
  const auto result = job(alone(), 1);
  CHECK(job(world(), 1) == result);
  CHECK(job(world(), 2) == result);
  CHECK(job(alone(), 3) == result);
  return result;
}

}  // namespace convoke::engine
