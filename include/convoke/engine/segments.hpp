#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "convoke/engine/range.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::engine {

/// A segment of micro-batches that one plan runs together: samples [first, first + micro_batch *
/// micro_batches) of the step.
struct MicroBatchSegment {
  std::int64_t first, micro_batch, micro_batches;
};

/// How a worker divides its micro-batches into segments.
struct Cut {
  std::int64_t micro_batch = 0;  ///< samples per micro-batch; the last micro-batch of a step may have fewer
  bool one_by_one = false;       ///< run each micro-batch separately
  std::int64_t plan_bytes = 0;   ///< approximate activation memory of micro-batches that run together
  std::int64_t bytes_per_sample = 1;  ///< bytes of activations, see activation_bytes_per_sample
};

/// Returns the limit, in bytes, of the activations of micro-batches that a worker runs together: 8 to 48 MiB,
/// twelve times the parameters, since every run reads them and adds their gradients to a sum. There is no
/// limit if batch norms are synchronized, because all micro-batches are then active at the same time anyway.
std::int64_t segment_bytes(const nn::Graph& graph);

/// Returns the approximate bytes of activations per sample: the output of every node, and half as much again
/// for gradients.
std::int64_t activation_bytes_per_sample(const nn::Graph& graph, nn::Precision precision);

/// Returns the segments in which a worker runs `micro_batches` of a step of `samples` samples.
std::vector<MicroBatchSegment> micro_batch_segments(std::int64_t samples, MicroBatchRange micro_batches,
                                                    const Cut& cut);

}  // namespace convoke::engine
