#pragma once
#include <cstddef>
#include <cstdint>

#include "convoke/engine/evaluator.hpp"
#include "convoke/engine/shares.hpp"
#include "convoke/engine/step_engine.hpp"

namespace convoke::engine {

/// Memory that a rank needs to train one model, in bytes. The ranks of a node share the parameters and the
/// optimizer's state (ModelMemory).
struct MemoryNeed {
  std::size_t parameters = 0;
  std::size_t gradients = 0;        ///< the sums of every worker
  std::size_t exchange = 0;         ///< buffers for the sums of the gradients over nodes
  std::size_t optimizer_state = 0;  ///< includes the moving average, if there is one
  std::size_t working_weights = 0;  ///< copies in the layouts and the type of the primitives
  std::size_t activations = 0;      ///< the arenas of all plans of all workers
  std::size_t evaluation = 0;       ///< the model and the plans of an evaluator

  std::size_t total() const {
    return parameters + gradients + exchange + optimizer_state + working_weights + activations + evaluation;
  }
};

/// Predicts the memory of rank `rank` of `ranks` that train a model on `samples` samples per epoch. It
/// compiles the plans, but allocates no memory for them. `validates`: an evaluator exists together with the
/// engine. `place`: among the nodes that sum gradients together. The result does not include memory that does
/// not grow with the model (the program, its libraries, kernels made for these shapes).
MemoryNeed predict_memory(const nn::Graph& graph, const EngineOptions& options,
                          const optim::Optimizer& optimizer, std::int64_t samples, bool validates, int rank,
                          int ranks, const NodePlace& place = {});

}  // namespace convoke::engine
