#pragma once
#include <cstdint>
#include <string>

#include "convoke/engine/lane_engine.hpp"
#include "convoke/nn/graph.hpp"

namespace convoke::train {

/// The name of a node whose batch norm takes its statistics from training samples and has one value per
/// channel in each, so that two samples are the least it can normalise; empty if there is none. Frozen ones
/// take their running statistics.
std::string lone_batch_norm(const nn::Graph& graph);

/// Throws Error if such a batch norm would see a single sample at once, whose variance is 0 and whose output
/// therefore says nothing of it (PyTorch refuses it too): in lanes of one sample, or in the smaller lane at
/// the end of an epoch of `samples` training samples. `whose`: the run or member, for the message.
void require_batch_statistics(const nn::Graph& graph, const engine::EngineOptions& engine,
                              std::int64_t samples, const std::string& whose);

}  // namespace convoke::train
