#pragma once
#include <cstdint>
#include <string>

#include "convoke/engine/step_engine.hpp"
#include "convoke/nn/graph.hpp"

namespace convoke::train {

/// Returns the name of a trained batch-norm node that has one value per channel in each sample, so that it
/// needs at least two samples; empty if there is none. A frozen batch norm uses its running statistics and is
/// not considered.
std::string single_value_batch_norm(const nn::Graph& graph);

/// Throws Error if such a batch norm would see a single sample: in micro-batches of one sample, or in the
/// smaller micro-batch at the end of an epoch of `samples` training samples. The variance of one sample is 0,
/// so the output would be constant (PyTorch refuses it too). A synchronized batch norm sees the whole batch
/// or, if `replicas` > 1 ranks train models of their own, a rank's share of it. `whose`: the run or member
/// that the message names.
void require_batch_statistics(const nn::Graph& graph, const engine::EngineOptions& engine,
                              std::int64_t samples, const std::string& whose, int replicas = 1);

}  // namespace convoke::train
