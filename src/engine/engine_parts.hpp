#pragma once
#include <memory>
#include <string>

#include "convoke/engine/gradient_sums.hpp"
#include "convoke/engine/load_balancer.hpp"
#include "convoke/engine/model_memory.hpp"
#include "convoke/engine/moments_exchange.hpp"
#include "convoke/engine/step_engine.hpp"
#include "convoke/engine/work_queue.hpp"
#include "convoke/engine/worker_team.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::engine {

/// The parts of an engine whose construction is collective.
struct EngineParts {
  std::shared_ptr<const nn::ParameterLayout> layout;
  std::shared_ptr<MomentsExchange> moments;  ///< exchange of synchronized batch norms, if there are any
  std::unique_ptr<ModelMemory> memory;
  std::string unshared;  ///< why the ranks of a node do not share memory though they should
  std::unique_ptr<NodeTeam> team;
  std::unique_ptr<GradientSums> sums;
  std::unique_ptr<WorkQueue> queue;  ///< the workers of the node, or of this rank, share their micro-batches
  std::unique_ptr<LoadBalancer> balance;  ///< null: the shares of the ranks stay equal
};

/// Collective over `group`. `streamed`: each rank reads only its own samples. Throws Error on all ranks if
/// they have different parameter layouts, or if one rank fails.
EngineParts make_parts(const nn::Graph& graph, const EngineOptions& options,
                       const optim::Optimizer& optimizer, const mpi::Communicator& group, bool streamed);

}  // namespace convoke::engine
